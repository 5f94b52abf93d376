"""Where a question or card sends the learner: ``op:log``, ``doc:inplace.md``, ``lab:value``, …"""

from __future__ import annotations

from whygrad.learn.language import Language, in_language

__all__ = ["command_for"]


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
