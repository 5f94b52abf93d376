"""Programs for a page: numbered lines, their words marked by what they are.

Few classes, so that each has a colour with enough contrast on a light and on a dark ground.
"""

from __future__ import annotations

import html

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

__all__ = ["numbered_lines"]

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "comment"),
    (Keyword, "keyword"),
    (Name.Builtin, "builtin"),
    (Name.Function, "function"),
    (Name.Class, "function"),
    (Number, "number"),
    (String, "string"),
)


def numbered_lines(program: str) -> str:
    """The lines as list items; the list numbers them."""
    lines = [""]
    for kind, text in PythonLexer(stripnl=False).get_tokens(program.rstrip("\n")):
        for number, piece in enumerate(text.split("\n")):
            if number:
                lines.append("")
            lines[-1] += _marked(kind, piece)
    return "".join(f"<li><code>{line or ' '}</code></li>" for line in lines[:-1])


def _marked(kind: _TokenType, text: str) -> str:
    escaped = html.escape(text)
    name = next((name for wanted, name in _CLASSES if kind in wanted), None)
    return f'<span class="{name}">{escaped}</span>' if name and text else escaped
