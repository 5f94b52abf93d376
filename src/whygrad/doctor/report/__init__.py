"""Reports of a diagnosis: terminal, text, Markdown, HTML and JSON.

A diagnosis becomes a :class:`~.postmortem.Postmortem`: all there is to tell, worked out once.
That becomes sections of blocks (:mod:`.document`), and those are printed (:mod:`.layout`,
:mod:`.terminal`, :mod:`.markdown`, :mod:`.html`).  JSON is made from the diagnosis directly.
"""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

from whygrad.doctor.report.document import document, subject
from whygrad.doctor.report.layout import plain
from whygrad.doctor.report.postmortem import Postmortem
from whygrad.doctor.report.record import json_text, to_dict
from whygrad.errors import fail
from whygrad.files.atomic import replacing

if TYPE_CHECKING:
    from whygrad.doctor.verdict import Diagnosis

__all__ = ["FORMATS", "SUFFIXES", "fragment", "render", "save", "show", "to_dict"]

FORMATS = ("html", "json", "markdown", "text")
SUFFIXES = {".html": "html", ".htm": "html", ".json": "json", ".md": "markdown", ".txt": "text"}


def render(diagnosis: Diagnosis, format: str = "text", width: int = 80) -> str:
    """The report as ``text``, ``markdown``, ``html`` or ``json``; ``width`` is that of the text."""
    if format == "text":
        return plain(document(Postmortem(diagnosis)), width)
    if format == "markdown":
        from whygrad.doctor.report.markdown import markdown

        case = Postmortem(diagnosis)
        return markdown(subject(case), document(case, full=True))
    if format == "html":
        from whygrad.doctor.report.html import page

        return page(Postmortem(diagnosis))
    if format == "json":
        return json_text(diagnosis)
    raise fail(
        ValueError,
        call=f"report({format!r})",
        cause="there is no such format",
        fix=f"choose from {', '.join(FORMATS)}",
        where=None,
    )


def fragment(diagnosis: Diagnosis) -> str:
    """The HTML report without the page around it, for a notebook."""
    from whygrad.doctor.report.html import body

    return body(Postmortem(diagnosis))


def show(diagnosis: Diagnosis, file: IO[str] | None = None, console: Any = None) -> None:
    """Print the report to a terminal, with colour where there is any."""
    from whygrad.doctor.report import terminal

    terminal.show(document(Postmortem(diagnosis)), file, console)


def save(diagnosis: Diagnosis, path: str | os.PathLike[str]) -> None:
    """Write the report to a file, in the format of its suffix: all of it or nothing."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in SUFFIXES:
        raise fail(
            ValueError,
            call=f"save({os.fspath(path)!r})",
            cause=f"the suffix {suffix!r} names no format" if suffix else "there is no suffix",
            fix=f"end the name with one of {', '.join(SUFFIXES)}",
            where=None,
        )
    text = render(diagnosis, SUFFIXES[suffix])
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")
