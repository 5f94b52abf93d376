"""What the child's troubles mean, in the learner's language."""

from __future__ import annotations

import re

from whygrad.learn.content import phrases
from whygrad.learn.lab.sandbox import Trouble
from whygrad.learn.language import Language

__all__ = ["BLOCKING", "explained", "harmless"]

BLOCKING = ("large", "missing", "syntax")  # nothing in the file can be run: said once

_LONGEST = 2000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def harmless(text: object) -> str:
    """A learner's text without the characters that command a terminal."""
    return _CONTROL.sub("�", str(text).replace("\r\n", "\n"))


def explained(trouble: Trouble, language: Language) -> str:
    """What happened and what it may mean."""
    words = phrases("lab", language)
    facts = {
        key: harmless(value)[:_LONGEST] for key, value in trouble.facts.items() if value is not None
    }
    template = words[f"trouble_{trouble.kind}"]
    if trouble.kind == "exception" and facts.get("type") == "RecursionError":
        template = words["trouble_recursion"]
    elif trouble.kind == "forbidden":
        template = words.get(f"forbidden_{facts.get('act')}", template)
    elif trouble.kind == "timeout":
        facts["seconds"] = f"{float(trouble.facts.get('seconds', 0)):g}"
    elif trouble.kind in ("answer", "large", "output"):
        facts["megabytes"] = str(int(facts.get("bytes", "0")) >> 20)
    known = dict.fromkeys(re.findall(r"{(\w+)}", template), "?")
    return template.format(**{**known, **facts})
