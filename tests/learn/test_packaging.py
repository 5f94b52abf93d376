"""An installed whygrad has the whole course, and asks it far from the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("setuptools", minversion="77", reason="an older one cannot read pyproject.toml")

ROOT = Path(__file__).parents[2]
BUILD = "import setuptools.build_meta as build; build.build_{kind}('dist')"
ASK = """
from whygrad.cli.commands import cli
from whygrad.learn.content import folder
print(folder(), flush=True)
for command in ("quiz 07 --export quiz.html", "lab start by-hand", "lab check by-hand --seed 1"):
    try:
        cli(command.split())
    except SystemExit as end:
        print(command, "->", end.code, flush=True)
"""


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*.*")
        if path.is_file() and path.parent.name != "__pycache__"
    }


COURSE = files_in(ROOT / "data")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy to build in, with what an older build has left there."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, copy)
    for name in ("data", "src"):
        clutter = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, copy / name, ignore=clutter)
    left = copy / "build" / "lib" / "whygrad" / "learn" / "course" / "quizzes" / "renamed.yaml"
    left.parent.mkdir(parents=True)
    left.write_text("id: gone")
    (copy / "dist").mkdir()
    return copy


def built(sources: Path, kind: str) -> Path:
    program = BUILD.format(kind=kind)
    subprocess.run([sys.executable, "-c", program], cwd=sources, check=True, capture_output=True)
    (found,) = (sources / "dist").glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return found


def test_a_wheel_has_the_course_and_needs_no_repository(sources: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built(sources, "wheel")) as wheel:
        wheel.extractall(tmp_path / "installed")
    learn = tmp_path / "installed" / "whygrad" / "learn"
    assert files_in(learn / "course") == COURSE
    page = Path("learn", "quiz", "page")
    assert files_in(learn.parent / page) == files_in(ROOT / "src" / "whygrad" / page)
    places = {"PYTHONPATH": str(tmp_path / "installed"), "WHYGRAD_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=True,
        env={**os.environ, **places, "WHYGRAD_LANG": "en"},
    )  # fmt: skip
    assert done.stdout.startswith(f"{learn / 'course'}\nWritten to quiz.html.\n")
    assert 'id="q-07-01"' in (tmp_path / "quiz.html").read_text(encoding="utf-8")
    assert "lab start by-hand -> 0" in done.stdout
    assert "lab check by-hand --seed 1 -> 1" in done.stdout, "graded, and nothing is filled in yet"
    assert "0 of " in done.stdout
    assert "Not written yet" in done.stdout


def test_an_archive_of_the_sources_has_the_course(sources: Path) -> None:
    with tarfile.open(built(sources, "sdist")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"data/{name}" for name in COURSE} <= names
    assert "setup.py" in names
