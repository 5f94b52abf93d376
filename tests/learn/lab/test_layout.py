"""A lab lies where it is found; its texts are broken at words and keep the forms they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.learn.content import folder, read_yaml
from whygrad.learn.lab.layout import above, broken, markdown

LONG = "word " * 40
LABS = folder() / "labs"
DESCRIBED = {each.parent for each in folder().rglob("lab.yaml")} - {folder() / "interface"}
FOLDERS = sorted(DESCRIBED | set(LABS.glob("[0-9]*")))


def known(path: Path) -> dict[str, object]:
    description = path / "lab.yaml"
    return dict(read_yaml(description)) if description.is_file() else {}


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: f"{path.name}-{known(path).get('name')}")
def test_the_folder_of_a_lab_has_its_number_and_name(path: Path) -> None:
    lab = known(path)
    assert lab, f"{path.name} has no lab.yaml"
    name = f"{lab['number']:02}_{str(lab['name']).replace('-', '_')}"
    assert path == LABS / name, f"lab {lab['name']} belongs in data/labs/{name}"


def test_paragraphs_and_items_of_a_readme() -> None:
    page = markdown(f"# Title\n\n{LONG}\nmore\n\n- {LONG}\n  more\n- short\n\n1. {LONG}\n")
    lines = page.split("\n")
    assert max(map(len, lines)) <= 80
    assert page.split() == f"# Title {LONG} more - {LONG} more - short 1. {LONG}".split()
    items = lines[lines.index("# Title") + 2 :]
    assert sum(line.startswith("- ") for line in items) == 2
    assert sum(line.startswith("  word") for line in items) == 2
    assert sum(line.startswith("   word") for line in items) == 2


def test_what_has_a_form_keeps_it() -> None:
    kept = (
        "| a | b |\n| - | - |\n| 1 | 2 |\n\n```text\na   b\nc   d\n```\n\n    code\n    more code\n"
    )
    assert markdown(kept) == kept


def test_code_is_not_broken() -> None:
    code = "`a = b + c`"
    for length in range(60, 84):
        assert code in markdown("x" * length + f" {code} end")


def test_the_parts_of_a_docstring() -> None:
    text = f"{LONG.strip()}.\n\nas it\nwas\n\nname  what it is\nother  {LONG.strip()}"
    lines = broken(text, '    """', "    ", '"""').split("\n")
    assert max(map(len, lines)) <= 88
    assert lines[0].startswith("word")
    assert all(not line or line.startswith("    ") for line in lines[1:])
    assert lines[lines.index("    as it") + 1] == "    was"
    assert "    name  what it is" in lines  # columns stay columns
    assert any(line.startswith("      word") for line in lines)


def test_closing_quotes_need_room() -> None:
    for length in range(70, 90):
        text = ("x" * (length - 5)) + " word"
        lines = f'    """{broken(text, chr(32) * 4 + chr(34) * 3, "    ", chr(34) * 3)}'
        assert len(lines.split("\n")[-1]) + 3 <= 88 or "\n" in lines


def test_a_comment_without_room_goes_above() -> None:
    assert above("    x = 1", "short") == "    x = 1  # short"
    *comment, line = above("    x = 1", LONG.strip()).split("\n")
    assert line == "    x = 1"
    assert all(each.startswith("    # word") for each in comment)
