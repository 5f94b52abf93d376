"""What others read of the project agrees with itself: versions, Pythons, commands, templates."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOME = "https://github.com/whygrad/whygrad"
PLAIN = [
    ROOT / ".pre-commit-config.yaml",
    ROOT / "CITATION.cff",
    *sorted((ROOT / ".github").rglob("*.yml")),
]


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.name)
def test_each_file_is_yaml(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def test_ci_runs_the_two_commands_on_every_system_and_python() -> None:
    job = read(".github/workflows/ci.yml")["jobs"]["check"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[-2:] == ["make lint", "make test"]
    matrix = job["strategy"]["matrix"]
    assert [each.partition("-")[0] for each in matrix["system"]] == ["ubuntu", "macos", "windows"]
    named = [re.fullmatch(r".* :: Python :: (3\.\d+)", each) for each in PROJECT["classifiers"]]
    assert matrix["python"] == [each[1] for each in named if each]
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"


@pytest.mark.parametrize("name", ["bug", "diagnosis", "idea"])
def test_an_issue_form_asks_in_words(name: str) -> None:
    form = read(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert {"name", "description", "body"} <= form.keys()
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    assert all(field["attributes"]["label"] for field in form["body"])


def test_one_version_and_one_home() -> None:
    citation = read("CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == HOME
    assert all(url.startswith(HOME) for url in PROJECT["urls"].values())
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in changelog
    assert PROJECT["version"] in changelog


def test_a_commit_is_checked_by_what_ci_runs() -> None:
    (hook,) = read(".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert hook["entry"] == "make lint"
