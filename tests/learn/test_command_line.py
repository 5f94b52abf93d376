"""What the commands of the course share: the missing is named, and no terminal is too poor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

A_FILE = "this is a file, and progress is kept in a folder"
WITHOUT = """
import sys
sys.modules[sys.argv.pop(1)] = None  # as if it were not installed
from whygrad.cli import main
main()
"""


def python(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], input="\n3\nq\n", capture_output=True, encoding="utf-8",
        cwd=home, env={**os.environ, "WHYGRAD_HOME": str(home / "home"), **environment}, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("fsrs", "drill"),
        ("fsrs", "drill list"),
        ("genanki", "drill export --to deck.apkg"),
        ("yaml", "quiz"),
    ],
)
def test_a_missing_package_is_named_before_anything_is_asked(
    tmp_path: Path, package: str, command: str
) -> None:
    done = python(tmp_path, "-c", WITHOUT, package, *command.split(), WHYGRAD_LANG="en")
    wording = f"Error: the course needs {package}: pip install 'whygrad[learn]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", wording)
    spanish = python(tmp_path, "-c", WITHOUT, package, *command.split(), WHYGRAD_LANG="es")
    assert f"el curso necesita {package}: pip install 'whygrad[learn]'" in spanish.stderr


@pytest.mark.parametrize("command", ["drill export --to deck.tsv", "quiz", "lab"])
def test_what_is_not_needed_may_be_missing(tmp_path: Path, command: str) -> None:
    for package in ("fsrs", "genanki"):
        assert python(tmp_path, "-c", WITHOUT, package, *command.split()).returncode == 0


def test_the_engine_and_the_help_load_nothing_of_the_course(tmp_path: Path) -> None:
    program = (
        "import sys, whygrad.cli.commands\n"
        "loaded = {'fsrs', 'genanki', 'yaml', 'torch'} & sys.modules.keys()\n"
        "loaded |= {name for name in sys.modules if name.startswith('whygrad.learn.')}\n"
        "print(sorted(loaded))\n"
    )
    assert python(tmp_path, "-c", program).stdout == "['whygrad.learn.language']\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize(
    "command", ["quiz", "drill", "drill list", "drill stats", "lab", "ops log"]
)
def test_a_terminal_without_our_signs(tmp_path: Path, command: str, encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "whygrad", *command.split()], input=b"\n3\nq\n",
        capture_output=True, cwd=tmp_path, timeout=60,
        env={**os.environ, "PYTHONIOENCODING": encoding, "WHYGRAD_HOME": str(tmp_path),
             "WHYGRAD_LANG": "es"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode(encoding)
    assert done.stderr == b""


@pytest.mark.parametrize("command", ["quiz", "drill", "drill stats", "lab"])
def test_a_folder_that_is_none(tmp_path: Path, command: str) -> None:
    (tmp_path / "home").write_text("")
    done = python(tmp_path, "-m", "whygrad", *command.split())
    assert done.returncode == 1
    assert done.stderr == f"Error: {tmp_path / 'home'}: {A_FILE}\n"
