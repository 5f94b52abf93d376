"""What CONTRIBUTING tells a newcomer to write: a whole lab, a question, a card and their proof."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from whygrad import Value
from whygrad.learn.content import folder, phrases
from whygrad.learn.lab.authors import complaints
from whygrad.learn.lab.catalogue import read

GUIDE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_lab_is_whole(tmp_path: Path) -> None:
    files = re.findall(r"^`data/labs/([^`]+)`[^\n]*\n\n```\w+\n(.*?)^```", GUIDE, re.M | re.S)
    assert len(files) == 5
    for name, text in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    lab = read(tmp_path / "13_softplus")
    assert complaints(lab) == []


@pytest.mark.parametrize(("kind", "part"), [("quiz", "questions"), ("drill", "cards")])
def test_an_item_fits_the_schema(kind: str, part: str) -> None:
    blocks = re.findall(r"^```yaml\n(  - id: .*?)^```", GUIDE, re.M | re.S)
    (item,) = yaml.safe_load(blocks[part == "cards"])
    schema = json.loads((folder() / "schema" / f"{kind}.schema.json").read_text())
    rules = {**schema["properties"][part]["items"], "$defs": schema["$defs"]}
    jsonschema.Draft202012Validator(rules).validate(item)
    if kind == "quiz":
        assert f"topic_{item['topic'].replace('-', '_')}" in phrases("quiz", "en")


def test_the_proof_holds() -> None:
    (proof,) = re.findall(r"^```py\n(@proves.*?)^```", GUIDE, re.M | re.S)
    names = {"Value": Value, "proves": lambda *ids: lambda function: function}
    exec(proof, names)
    names["slope_of_a_square"]()  # type: ignore[operator]
