"""The report as one HTML file: style and drawings inside, no scripts, nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from whygrad.doctor.report.blocks import (
    Block,
    Code,
    CodeLine,
    Figure,
    Fold,
    Headline,
    Items,
    Label,
    Legend,
    Section,
    Table,
    Text,
)
from whygrad.doctor.report.document import document, subject
from whygrad.doctor.report.plots import plots
from whygrad.doctor.report.postmortem import Postmortem

__all__ = ["body", "page", "style"]

_CODE = re.compile(r"`([^`]+)`")
_AFTER = ("timeline", "first-bad", "ramp")  # what the plots come after, where it is there
_EMPTY_ICON = "data:,"  # or a browser asks the server for one


def page(case: Postmortem) -> str:
    """A whole document."""
    title = _plain_title(case)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="{_EMPTY_ICON}">\n'
        "<style>html, body { margin: 0; min-height: 100%; background: #fff; }\n"
        "@media (prefers-color-scheme: dark) { html, body { background: #101418; } }</style>\n"
        f"</head>\n<body>\n{body(case)}\n</body>\n</html>\n"
    )


@cache
def style() -> str:
    """The style sheet: all of it is inside ``.whygrad-report``, for reports in a notebook.

    Text has a contrast of at least 4.5 to 1 on its ground, curves of 3 to 1, in light and in dark.
    """
    return files("whygrad.doctor.report").joinpath("report.css").read_text(encoding="utf-8")


def body(case: Postmortem) -> str:
    """The report without the page around it."""
    sections = _with_plots(document(case, full=True), plots(case))
    others = [each for each in sections if each.key != "verdict"]
    parts = [
        f'<div class="whygrad-report"><style>{style()}</style>',
        f'<header><span class="name">whygrad doctor</span> '
        f'<span class="subject">{escape(subject(case))}</span></header>',
        "<main>",
        *(_section(each, _mood(case)) for each in sections[:1]),
        _contents(others),
        *map(_section, others),
        "</main>",
        "<footer>Made by whygrad doctor. Steps are counted from 0.</footer></div>",
    ]
    return "\n".join(part for part in parts if part)


def _plain_title(case: Postmortem) -> str:
    verdict = case.diagnosis.verdict
    healthy = "nothing wrong" if case.diagnosis.well else "nothing found"
    unknown = "cause unknown" if case.unclear else healthy
    found = unknown if verdict is None else verdict.title
    return f"whygrad doctor: {found} · {subject(case)}"


def _with_plots(sections: list[Section], figures: Sequence[Figure]) -> list[Section]:
    """The plots stand after the account of what happened."""
    if not figures:
        return sections
    drawn = Section("plots", "Plots", tuple(figures))
    after = max((at for at, each in enumerate(sections) if each.key in _AFTER), default=0)
    return [*sections[: after + 1], drawn, *sections[after + 1 :]]


def _contents(sections: Sequence[Section]) -> str:
    if len(sections) < 2:
        return ""
    links = "".join(
        f'<li><a href="#whygrad-{each.key}">{escape(each.title)}</a></li>' for each in sections
    )
    return f'<nav aria-label="Sections of this report"><ul>{links}</ul></nav>'


def _mood(case: Postmortem) -> str:
    if case.diagnosis.well:
        return "healthy"
    open = case.unclear or case.diagnosis.healthy or case.diagnosis.suspected
    return "unclear" if open else ""


def _section(section: Section, mood: str = "") -> str:
    inner = "".join(_grouped(section))
    if section.key == "verdict":
        return f'<section class="verdict {mood}" aria-label="Verdict">{inner}</section>'
    name = f"whygrad-{section.key}"
    heading = f'<h2 id="{name}">{escape(section.title)}</h2>'
    return f'<section class="{section.key}" aria-labelledby="{name}">{heading}{inner}</section>'


def _grouped(section: Section) -> Iterator[str]:
    """Blocks, those that belong together in boxes of their own."""
    top = section.key == "verdict"
    if section.key == "plots":
        yield f'<div class="figures">{"".join(map(_block, section.blocks))}</div>'
        return
    finding: list[Block] = []
    for block in section.blocks:
        if isinstance(block, Headline):
            if finding:
                yield _finding(finding, top)
            finding = [block]
        elif finding:
            finding.append(block)
        elif not top:
            yield _block(block, events=section.key == "timeline")
    if finding:
        yield _finding(finding, top)


def _finding(blocks: Sequence[Block], top: bool) -> str:
    """A finding, with fix and guardrail side by side where there is room."""
    parts: list[str] = []
    advice: list[str] = []
    for block in blocks:
        if isinstance(block, Headline):
            parts.append(_headline(block, "h1" if top else "h3"))
        elif isinstance(block, Label):
            advice.append(f"<h4>{escape(block.text)}</h4>")
        elif advice and not isinstance(block, Fold):
            advice[-1] += _block(block)
        else:
            if advice:
                parts.append(_advice(advice))
                advice = []
            parts.append(_block(block))
    if advice:
        parts.append(_advice(advice))
    return f'<div class="finding">{"".join(parts)}</div>'


def _advice(parts: Iterable[str]) -> str:
    return f'<div class="advice">{"".join(f"<div>{part}</div>" for part in parts)}</div>'


def _headline(block: Headline, tag: str) -> str:
    facts = [f'<li class="rule">{escape(block.rule)}</li>'] if block.rule else []
    if block.mood not in ("healthy", "open"):  # what those have, the head of the page says
        facts += [f"<li>{_fact(each)}</li>" for each in block.facts]
    listed = f'<ul class="facts">{"".join(facts)}</ul>' if facts else ""
    return f"<{tag}>{_inline(block.title)}</{tag}>{listed}"


_BARS = {"certain": 100, "likely": 66, "possible": 33}  # per cent of the width


def _fact(text: str) -> str:
    width = _BARS.get(text.partition(" ")[0])
    if width is None:
        return escape(text)
    bar = f'<i aria-hidden="true"><b style="width:{width}%"></b></i>'
    return f'<span class="sure">{bar}{escape(text)}</span>'


def _block(block: Block, events: bool = False) -> str:
    match block:
        case Headline():
            return _headline(block, "h3")
        case Text():
            return f"<p{_class('faint', block.faint)}>{_inline(block.text)}</p>"
        case Label():
            return f"<h4>{escape(block.text)}</h4>"
        case Items():
            return _items(block, events)
        case Code():
            return _code(block)
        case Table():
            return _table(block)
        case Figure():
            return _figure(block)
        case Fold():
            inner = "".join(_block(each) for each in block.blocks)
            return f"<details><summary>{escape(block.title)}</summary>{inner}</details>"


def _class(name: str, wanted: bool) -> str:
    return f' class="{name}"' if wanted else ""


def _inline(text: str) -> str:
    pieces = _CODE.split(text)
    return "".join(
        f"<code>{escape(piece)}</code>" if at % 2 else escape(piece)
        for at, piece in enumerate(pieces)
    )


def _items(block: Items, events: bool) -> str:
    tag = "ol" if block.numbered else "ul"
    inner = "".join(
        f"<li{_class('marked', at in block.marked)}>{_inline(item)}</li>"
        for at, item in enumerate(block.items)
    )
    return f"<{tag}{_class('events', events)}>{inner}</{tag}>"


def _code(block: Code) -> str:
    caption = f'<p class="caption">{_inline(block.caption)}</p>' if block.caption else ""
    rows = "".join(_code_row(line) for line in block.lines)
    return f'{caption}<pre tabindex="0"><code>{rows}</code></pre>'


def _code_row(line: CodeLine) -> str:
    at = "" if line.number is None else f'<span class="at">{line.number}</span>'
    tone = f"row {line.kind}" if line.kind else "row"
    return f'<span class="{tone}">{at}{escape(line.text) or " "}</span>'


def _table(block: Table) -> str:
    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{_class('words', at in block.words)}>{_breakable(cell)}</{tag}>"
            for at, cell in enumerate(row)
        )

    rows = "".join(
        f"<tr{_class('marked', at in block.marked)}>{cells(row, 'td')}</tr>"
        for at, row in enumerate(block.rows)
    )
    head = f"<thead><tr>{cells(block.head, 'th')}</tr></thead>"
    caption = f'<p class="caption">{_inline(block.caption)}</p>' if block.caption else ""
    table = f"<table>{head}<tbody>{rows}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>{caption}'


def _breakable(text: str) -> str:
    """``gradients/blocks.0`` may go on below after the slash, in the head of a table."""
    return escape(text).replace("/", "/<wbr>")


def _figure(block: Figure) -> str:
    legend = "".join(f"<li>{_swatch(each)}{escape(each.name)}</li>" for each in block.legend)
    return (
        f"<figure><h3>{escape(block.title)}</h3>{block.svg}<figcaption>"
        f'<ul class="legend">{legend}</ul>{escape(block.description)}</figcaption></figure>'
    )


def _swatch(legend: Legend) -> str:
    if legend.tone in ("band", "invalid"):
        inner = f'<rect class="{legend.tone}" width="18" height="10"/>'
    elif legend.tone == "early":
        inner = '<rect class="hill early" width="18" height="10"/>'
    else:
        tone = legend.tone if legend.tone.startswith(("event", "clip")) else f"curve {legend.tone}"
        inner = f'<path class="{tone}" d="M0 5H18"/>'
    return f'<svg viewBox="0 0 18 10" aria-hidden="true">{inner}</svg>'
