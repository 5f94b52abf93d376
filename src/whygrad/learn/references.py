"""Where a question, card or lab sends the learner: ``op:log``, ``doc:inplace.md``, …"""

from __future__ import annotations

import functools
from difflib import get_close_matches

from whygrad.learn.content import folder
from whygrad.learn.language import Language, in_language

__all__ = ["command_for", "leads_nowhere"]


def command_for(
    reference: str, language: Language | None = None, otherwise: Language | None = None
) -> str:
    """What to type or open: ``whygrad ops log``, ``docs/inplace.md``.

    With a language, a command that can speak it does; see ``in_language``.
    """
    kind, _, name = reference.partition(":")
    command = {
        "op": f"whygrad ops {name}",
        "doc": f"docs/{name}",
        "lab": f"whygrad lab start {name}",
        "rule": f"whygrad doctor --explain {name}",
        "example": f"examples/{name}.py",
    }[kind]
    if kind == "lab" and language is not None:
        return in_language(command, language, otherwise)
    return command


def leads_nowhere(reference: str) -> str | None:
    """What is wrong with a reference, with names like it; None if it leads somewhere."""
    kind, _, name = reference.partition(":")
    known = _names(kind)
    if name.partition("#")[0] in known or not known:  # an installed course has no documents
        return None
    close = get_close_matches(name, known, n=3) or sorted(known)[:3]
    return f"{reference} leads nowhere; there is {', '.join(f'{kind}:{each}' for each in close)}"


@functools.cache
def _names(kind: str) -> frozenset[str]:
    from whygrad.doctor.rules import load
    from whygrad.doctor.rules.rule import rules
    from whygrad.learn.lab.catalogue import labs
    from whygrad.ops.define import table

    match kind:
        case "op":
            return frozenset(table)
        case "lab":
            return frozenset(each.name for each in labs())
        case "rule":
            load()
            return frozenset(rules)
    place = folder().parent / {"doc": "docs", "example": "examples"}[kind]
    files = [each.relative_to(place) for each in place.rglob("*.*")]
    files = [each if kind == "doc" else each.with_suffix("") for each in files]
    return frozenset(each.as_posix() for each in files)
