"""With nothing but whygrad's own dependencies every command runs, or says which extra it needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What a command must be given to do something; all others are called as they are.
ARGUMENTS = {
    "doctor": ["--list-rules"],
    "drill export": ["--to", "deck.apkg"],
    "drill progress export": ["reviews.jsonl"],
    "drill progress import": ["reviews.jsonl"],
    "lab start": ["value"],
}
# One process for all: each command of the tree, with the extras' packages hidden.
CALL_ALL = """
import json, sys
for name in json.loads(sys.argv[1]):
    sys.modules[name] = None
import click
from click.testing import CliRunner
from whygrad.cli.commands import cli

def leaves(command, path):
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from leaves(each, [*path, name])
    else:
        yield path

arguments, said = json.loads(sys.argv[2]), {}
for path in leaves(cli, []):
    result = CliRunner().invoke(cli, [*path, *arguments.get(" ".join(path), [])])
    said[" ".join(path)] = [result.exit_code, result.stderr or repr(result.exception)]
print(json.dumps(said))
"""
MODULES = {"pillow": "PIL", "pyyaml": "yaml"}  # imported under another name


def extras() -> dict[str, list[str]]:
    """By extra that a user may want, the modules that it brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {}
    for extra, requirements in project["optional-dependencies"].items():
        if extra not in ("bench", "dev"):
            names = [re.split(r"[^\w-]", each)[0] for each in requirements]
            found[extra] = [MODULES.get(name, name) for name in names]
    return found


def test_every_command_runs_or_names_the_extra(tmp_path: Path) -> None:
    hidden = {name: extra for extra, names in extras().items() for name in names}
    done = subprocess.run(
        [sys.executable, "-c", CALL_ALL, json.dumps(list(hidden)), json.dumps(ARGUMENTS)],
        cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=300,
        env={**os.environ, "WHYGRAD_HOME": str(tmp_path / "home"), "WHYGRAD_LANG": "en"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {"tour", "ops", "doctor", "quiz", "drill review", "lab check"} <= said.keys()
    refused = {name: text for name, (code, text) in said.items() if code}
    for name, text in refused.items():
        wording = re.fullmatch(r"Error: .* needs (\w+): pip install 'whygrad\[(\w+)\]'\n", text)
        assert wording, (name, text)
        assert hidden[wording[1]] == wording[2], (name, text)
    assert not refused.keys() & {"tour", "ops", "doctor"}, "these need no extra"
