"""The report in a terminal: with rich in colour, without it as plain text."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from typing import IO, Any

from whygrad.doctor.report.blocks import Section
from whygrad.doctor.report.layout import Line, set_lines

__all__ = ["show"]

_STYLES = {
    "cause": "bold red",
    "open": "bold yellow",
    "unclear": "bold yellow",
    "healthy": "bold green",
    "marked": "bold red",
    "title": "bold",
    "label": "bold",
    "head": "dim",
    "rule": "dim",
    "faint": "dim",
    "code": "cyan",
    "added": "green",
    "removed": "red",
}
# For terminals that know little more than ASCII.
_SIMPLE = str.maketrans(
    {"─": "-", "│": "|", "✗": "x", "✓": "+", "·": "-", "…": ".", "–": "-", "→": ">", "×": "x"}
)


def show(sections: Iterable[Section], file: IO[str] | None = None, console: Any = None) -> None:
    """Print a report, by default to standard error: standard output belongs to the program."""
    file = file or sys.stderr
    if console is None:
        console = _console(file)
    if console is None:
        for line in set_lines(sections, shutil.get_terminal_size().columns):
            text = "".join(text for text, _ in line).rstrip()
            file.write(_writable(text, getattr(file, "encoding", None)) + "\n")
        return
    for line in set_lines(sections, console.width):
        console.print(_styled(line, console.encoding), no_wrap=True, overflow="ignore", crop=False)


def _console(file: IO[str]) -> Any:
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        return None
    return Console(file=file, highlight=False, emoji=False, markup=False)


def _styled(line: Line, encoding: str) -> Any:
    from rich.text import Text

    text = Text()
    for piece, style in line:
        piece = _writable(piece, encoding)
        if style == "source":
            text.append_text(_highlighted(piece))
        else:
            text.append(piece, _STYLES.get(style, ""))
    text.rstrip()
    return text


def _highlighted(source: str) -> Any:
    """A line of Python in the colours of the terminal; plain if that needs a missing package."""
    from rich.text import Text

    try:
        from rich.syntax import Syntax
    except ModuleNotFoundError:
        return Text(source)
    coloured = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(source)
    coloured.rstrip()
    return coloured


def _writable(text: str, encoding: str | None) -> str:
    """What the terminal's encoding can show of a text."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return text.translate(_SIMPLE).encode("ascii", "replace").decode()
    return text
