"""``python -m scripts.documents``: rerun what the documents show and write the output back.

Six kinds of output are kept fresh: a ```text block right after a ```python block is what that
program prints; one after ``<!-- whygrad … -->`` is what that command prints (``< a b`` at its end
is typed in, a line for each word); the table after ``<!-- bench -->`` is the last ``make bench``;
one after ``<!-- situations … -->`` is made of the programs in ``tests/why/situations``; one after
``<!-- course … -->`` lists quizzes or decks; one after ``<!-- lab sample … -->`` is a lab as it is
graded.  A drawing (.svg) that a program writes is kept in
``docs/images``.  The pages of the doctor's rules are made from the rules, those of the course from
the files in ``data``, the page of PyTorch's names from the two libraries.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import linecache
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from whygrad.learn.language import chosen

__all__ = [
    "DOCUMENTS",
    "EXAMPLE",
    "IMAGES",
    "ROOT",
    "command_output",
    "main",
    "output_of",
    "refreshed",
    "run",
]

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.S | re.M)
_COMMAND = re.compile(r"(<!-- whygrad (.*?) -->\n```text\n)(.*?)(^```\n)", re.S | re.M)
_BENCH = re.compile(r"(<!-- bench -->\n)(.*?)(\n\n)", re.S)
_COURSE = re.compile(r"(<!-- course (\w+) (\w+) -->\n)(.*?)(\n(?=\n|\Z))", re.S)
_LAB = re.compile(r"(<!-- lab sample (\w+) -->\n```text\n)(.*?)(^```\n)", re.S | re.M)
_SITUATIONS = re.compile(r"(<!-- situations (\w+) -->\n)(.*?)(\n(?=\n|\Z))", re.S)
RESULTS = ROOT / "bench" / "results" / "results.json"


def output_of(source: str) -> str:
    """What a program prints."""
    return run(source)[0]


def run(source: str) -> tuple[str, dict[str, str]]:
    """What a program prints and draws, run as ``example.py`` in an empty folder."""
    lines = source.splitlines(keepends=True)
    linecache.cache["example.py"] = (len(source), None, lines, "example.py")
    printed = io.StringIO()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(source, "example.py", "exec"), {"__name__": "example"})
            drawn = {each.name: each.read_text() for each in Path().glob("*.svg")}
        finally:
            os.chdir(before)
            linecache.cache.pop("example.py", None)
    return printed.getvalue(), drawn


def _after_program(match: re.Match[str]) -> str:
    if match[2] is None and ".svg" not in match[1]:
        return match[0]
    printed, drawn = run(match[1])
    for name, picture in drawn.items():
        (IMAGES / name).write_text(picture)
    if match[2] is None:
        return match[0]
    start, end = match.span(2)
    offset = match.start()
    printed = printed.rstrip() + "\n"
    return match[0][: start - offset] + printed + match[0][end - offset :]


def command_output(command: str) -> str:
    """What ``whygrad …`` prints; the words after `` < `` are typed in, a line for each."""
    command, _, typed = command.partition(" < ")
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-m", "whygrad", *shlex.split(command)],
            capture_output=True,
            input="".join(f"{line}\n" for line in shlex.split(typed)),
            text=True,
            check=True,
            env={
                **os.environ,
                "COLUMNS": "80",
                "NO_COLOR": "1",
                "WHYGRAD_HOME": home,
                "WHYGRAD_LANG": "en",
            },
        )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def _after_command(match: re.Match[str]) -> str:
    fresh = command_output(match[2]) + "\n"
    if _untimed(fresh) == _untimed(match[3]):
        fresh = match[3]  # only the clock went differently
    return match[1] + fresh + match[4]


def _untimed(text: str) -> str:
    """The text without its timings, nor the widths of frames that they change."""
    return re.sub(r"\d[\d.,]*(?= (?:s|ms|µs|ns)\b)|[ ─]{2,}", "…", text)


def _bench_table(match: re.Match[str]) -> str:
    if not RESULTS.exists():
        return match[0]
    rows = ["| workload | whygrad | PyTorch eager | others |", "| --- | --- | --- | --- |"]
    for result in json.loads(RESULTS.read_text())["results"]:
        seconds, reference = result["seconds"], result["reference"]
        if reference != "torch":
            continue
        if result.get("references"):  # against themselves, not against each other
            mine, theirs = (
                seconds[f"{library}, watched"] / seconds[library]
                for library in ("whygrad", "torch")
            )
            rows.append(f"| {result['what']} | **{mine:.2f}×** | {theirs:.2f}× | |")
            continue
        others = ", ".join(
            f"{peer} {each / seconds['torch']:.2f}×"
            for peer, each in seconds.items()
            if peer not in ("whygrad", "torch")
        )
        ratio = seconds["whygrad"] / seconds["torch"]
        rows.append(
            f"| {result['what']} | **{ratio:.2f}×** ({_short(seconds['whygrad'])}) "
            f"| 1× ({_short(seconds['torch'])}) | {others} |"
        )
    return match[1] + "\n".join(rows) + match[3]


def _situations(match: re.Match[str]) -> str:
    from tests.why.situations.document import table_of

    return match[1] + table_of(match[2]) + match[4]


def _course(match: re.Match[str]) -> str:
    from scripts.mirrors import index

    return match[1] + index(match[2], chosen(match[3])) + match[5]


def _lab(match: re.Match[str]) -> str:
    from scripts.lab_sample import sample

    return match[1] + sample(chosen(match[2])) + "\n" + match[4]


def _short(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def refreshed(text: str) -> str:
    """The document with every output as it is now."""
    text = EXAMPLE.sub(_after_program, text)
    text = _COMMAND.sub(_after_command, text)
    text = _SITUATIONS.sub(_situations, text)
    text = _COURSE.sub(_course, text)
    text = _LAB.sub(_lab, text)
    return _BENCH.sub(_bench_table, text)


def main() -> None:
    argparse.ArgumentParser(
        prog="python -m scripts.documents",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args()  # it has no options but --help
    from scripts import mirrors, names
    from scripts.rule_pages import write

    names.main()
    for page in (*write(ROOT / "docs" / "doctor"), *mirrors.write(ROOT / "docs")):
        print(f"rewrote {page.relative_to(ROOT)}")
    for document in DOCUMENTS:
        text = document.read_text()
        fresh = refreshed(text)
        if fresh != text:
            document.write_text(fresh)
            print(f"rewrote {document.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
