"""The notation of the texts: what is parsed, and that each rendering keeps to its own signs."""

from __future__ import annotations

import html.parser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from whygrad.learn.markup import (
    fenced,
    parse,
    to_anki,
    to_html,
    to_markdown,
    to_plain,
    to_screen,
    to_terminal,
)

EVERYTHING = r"""
A **bold `x` word** and *stress*, `a*b`, ``a`b``, $\frac{a}{b}$ and \$5.

- one
  goes on
- two & <b>

```python
if a < b:
    print("$x$ **no**")
```

The end.
"""


def styles(text: str) -> list[tuple[str, str]]:
    return [(span.style, span.text) for block in parse(text) for span in block.spans]


def test_blocks() -> None:
    kinds = [block.kind for block in parse(EVERYTHING)]
    assert kinds == ["paragraph", "item", "item", "program", "paragraph"]
    assert parse(EVERYTHING)[1].spans[0].text == "one goes on"
    assert parse(EVERYTHING)[3].language == "python"
    assert parse("") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**bold**", [("strong", "bold")]),
        ("(**bold**)", [("plain", "("), ("strong", "bold"), ("plain", ")")]),
        ("**a** and **b**", [("strong", "a"), ("plain", " and "), ("strong", "b")]),
        ("*it*", [("stressed", "it")]),
        ("x**2 + y**2", [("plain", "x**2 + y**2")]),
        ("2*3*4 and a * b * c", [("plain", "2*3*4 and a * b * c")]),
        ("`a*b*c` `d`", [("code", "a*b*c"), ("plain", " "), ("code", "d")]),
        ("``a`b``", [("code", "a`b")]),
        ("**a `x`, $y$**", [("strong", "a "), ("code", "x"), ("strong", ", "), ("math", "y")]),
        (r"\$5 and $x$", [("plain", "$5 and "), ("math", "x")]),
        ("a `b", [("plain", "a `b")]),
        ("$5", [("plain", "$5")]),
    ],
)  # fmt: skip
def test_spans(text: str, expected: list[tuple[str, str]]) -> None:
    assert styles(text) == expected


def test_plain() -> None:
    assert to_plain(EVERYTHING).splitlines()[:3] == [
        "A bold x word and stress, a*b, a`b, a/b and $5.",
        "- one goes on",
        "- two & <b>",
    ]


def test_html_escapes_and_closes() -> None:
    page = to_html(EVERYTHING)
    assert "<ul><li>one goes on</li><li>two &amp; &lt;b&gt;</li></ul>" in page
    assert "<strong>bold </strong><code>x</code><strong> word</strong>" in page
    assert '<span class="math">a/b</span>' in page
    assert "<pre><code>if a &lt; b:\n    print(&quot;$x$ **no**&quot;)</code></pre>" in page


def test_anki_keeps_the_formula_for_mathjax() -> None:
    assert r"\(\frac{a}{b}\)" in to_anki(EVERYTHING)
    assert to_anki("$a < b$") == r"<p>\(a &lt; b\)</p>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x**2 [a](b) <b> a_b", r"x\*\*2 \[a](b) \<b> a\_b"),
        ("# no heading", r"\# no heading"),
        ("1. no list", r"1\. no list"),
        ("&lt; & co", r"\&lt; & co"),
        ("-12 stays", "-12 stays"),
        (r"costs \$5", r"costs \$5"),
        ("``a`b`` and `c|d`", "``a`b`` and `c|d`"),
        ("**bold `x`**", "**bold** `x`"),
        ("- one\n- two\n\nend", "- one\n- two\n\nend"),
        ("```python\nx = 1\n```", "```py\nx = 1\n```"),
        ("```text\nx\n```", "```text\nx\n```"),
    ],
)
def test_markdown(text: str, expected: str) -> None:
    assert to_markdown(text) == expected


def test_a_fence_is_longer_than_those_inside() -> None:
    assert fenced("```\nx\n```", "text") == "````text\n```\nx\n```\n````"


def test_the_terminal_shows_lists_that_hang_and_programs_as_they_are() -> None:
    console = Console(width=30, file=None, record=True, quiet=False, force_terminal=False)
    with console.capture() as shown:
        console.print(
            to_screen("Intro.\n\n- a long item that does not fit one line\n\n```\n  x\n```")
        )
    lines = [line.rstrip() for line in shown.get().splitlines()]
    assert lines == ["Intro.", "• a long item that does not", "  fit one line", "", "      x"]


def test_terminal_text() -> None:
    text = to_terminal(EVERYTHING)
    assert text.plain.startswith("A bold x word and stress, a*b, a`b, a/b and $5.\n• one goes on\n")
    assert '\n\n    if a < b:\n        print("$x$ **no**")\n\nThe end.' in text.plain


class Balanced(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


AWKWARD = st.text(alphabet="ab*`$\\\n- <>&_#[]1.\t\x1bñ{}^", max_size=80)


@given(AWKWARD)
def test_no_text_breaks_a_rendering(text: str) -> None:
    for render in (to_html, to_anki):
        page = Balanced()
        page.feed(render(text))
        page.close()
        assert page.open == []
        assert "<script" not in render(text)
    to_plain(text)
    to_markdown(text)
    to_terminal(text)
    to_screen(text)


@given(AWKWARD)
def test_letters_survive(text: str) -> None:
    for render in (to_plain, to_html):
        assert render(text).count("ñ") == text.count("ñ")
