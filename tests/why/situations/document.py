"""The situations as tables in Markdown, with the answers as they are now."""

from __future__ import annotations

from tests.why.situations.cuts import CUTS
from tests.why.situations.healthy import HEALTHY
from tests.why.situations.nan import NAN
from tests.why.situations.none import NONE
from tests.why.situations.running import asked, running
from tests.why.situations.situation import HERE, Situation
from tests.why.situations.zero import ZERO

__all__ = ["SITUATIONS", "table_of"]

SITUATIONS = {"none": (*NONE, *CUTS), "zero": ZERO, "nan": NAN}


def table_of(name: str) -> str:
    """One of the tables: ``none``, ``zero``, ``nan`` or ``healthy``."""
    if name == "healthy":
        return "\n".join(f"- {each.title}" for each in HEALTHY)
    head = "| situation | the line that is named | cause | answer | PyTorch |"
    return "\n".join([head, "| --- " * 5 + "|", *map(_row, SITUATIONS[name])])


def _row(situation: Situation) -> str:
    engine = situation.engines[0]
    with running(situation.program, engine) as variables:
        answer = asked(situation.question, variables, engine)
    named = situation.line_in(engine)
    line = "" if named is None else f"`{_text(situation, named)}`"
    cells = (situation.title, line, f"`{answer.cause}`", answer.headline, _in_torch(situation))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _text(situation: Situation, number: int) -> str:
    return situation.text.splitlines()[number - 1].split(HERE)[0].strip()


def _in_torch(situation: Situation) -> str:
    if situation.only is not None:
        return f"{'only' if situation.only == 'torch' else 'not'} there: {situation.because}"
    return "the same" if situation.in_torch is None else f"`{situation.in_torch}`"
