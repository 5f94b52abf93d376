"""Where a question or card sends the learner: ``op:log``, ``doc:inplace.md``, ``lab:value``, …"""

from __future__ import annotations

__all__ = ["command_for"]


def command_for(reference: str) -> str:
    """What to type or open: ``whygrad ops log``, ``docs/inplace.md``."""
    kind, _, name = reference.partition(":")
    return {
        "op": f"whygrad ops {name}",
        "doc": f"docs/{name}",
        "lab": f"whygrad lab start {name}",
        "rule": f"whygrad doctor --explain {name}",
        "example": f"examples/{name}.py",
    }[kind]
