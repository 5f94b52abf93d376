"""Reading a postmortem: its head of facts, its sections, and sentences that say nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

__all__ = ["FIELDS", "SECTIONS", "Unreadable", "facts_of", "numbers_in", "sections_of", "vague_in"]

FIELDS = {
    "first_invalid": ("step", "line", "operation", "pass", "value"),
    "handed_on": ("step", "line", "operation"),
    "graph_cause": ("kind", "line"),
    "numerical_cause": ("kind", "line"),
}
SECTIONS = ("symptoms", "measurements", "spread", "causes", "fixes", "guardrail")
_COUNTED = ("step", "line")
_ALIASES = {"/": "div", "*": "mul", "+": "add", "-": "sub", "**": "pow", "@": "matmul"}
_HEAD = re.compile(r"\A\ufeff?\s*---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.S | re.M)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_CODE = re.compile(r"`[^`\n]+`")
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.I)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n\s*\n|\n(?=\s*[-*] )")
# What can be said of every run that failed; in a sentence with a place or a number it may stand.
_PHRASES = (
    "unstable", r"instabilit\w+", "somehow", r"weird\w*", r"strange\w*", "for some reason",
    r"something (?:was|is) wrong", "went wrong", r"numerical (?:issue|problem|error)s?",
    r"gradient (?:issue|problem)s?", "blew up", "blows up", r"explod\w+", "diverge[ds]?",
    r"(?:did not|didn't|does not|doesn't) (?:work|converge|train|learn)",
    "probably", "maybe", "perhaps", "apparently",
    r"inestab\w+", "algo falló", "(?:salió|iba|fue|estaba) mal", r"rar[oa]s?", r"extrañ[oa]s?",
    r"de alg(?:una|ún) (?:manera|forma|modo)", r"por alg(?:una|ún) (?:razón|motivo)",
    r"(?:problema|error|fallo)(?:e?s)? numéricos?",
    r"problemas? (?:con|del?) (?:(?:el|los) )?gradientes?",
    r"explot\w+", r"se dispar\w+", r"diverg\w+", r"no (?:funcion|converg|entren|aprend)\w+",
    "quizás?", "tal vez", "a lo mejor", "probablemente", "posiblemente", "al parecer",
    "por lo visto",
)  # fmt: skip
_VAGUE = re.compile(rf"\b(?:{'|'.join(_PHRASES)})\b", re.I)


class Unreadable(Exception):
    """The head is missing, is no YAML, or lacks a field; ``key`` and ``values`` name the text."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.key = key
        self.values = values


@dataclass(frozen=True)
class Vague:
    """A sentence that could stand in any postmortem."""

    phrase: str
    sentence: str


def facts_of(text: str) -> dict[str, dict[str, Any]]:
    """The facts between the two lines of dashes; numbers as int, words in lower case."""
    head = _HEAD.search(text)
    if head is None:
        raise Unreadable("no_head")
    try:
        raw = yaml.safe_load(head[1])
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = text[: head.start(1)].count("\n") + 1 + (mark.line if mark else 0)
        raise Unreadable("no_yaml", line=line) from None
    found: dict[str, dict[str, Any]] = {}
    for part, names in FIELDS.items():
        inner = raw.get(part) if isinstance(raw, Mapping) else None
        if not isinstance(inner, Mapping):
            raise Unreadable("no_part", part=part)
        found[part] = {name: _fact(part, name, inner.get(name)) for name in names}
    return found


def _fact(part: str, name: str, value: Any) -> Any:
    if value is None or value == "":
        raise Unreadable("empty_field", field=f"{part}.{name}")
    if name in _COUNTED:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Unreadable("not_counted", field=f"{part}.{name}", value=value)
        return value
    word = str(value).strip().strip(".`").lower().replace("−", "-")
    if name == "operation":
        word = word.removesuffix("()").rpartition(".")[2]  # whygrad.log() is log
        return _ALIASES.get(word, word)
    return word


def sections_of(text: str, headings: Mapping[str, str]) -> dict[str, str]:
    """The text below each heading; ``headings`` leads from every wording to its name."""
    body = _COMMENT.sub("", _HEAD.sub("", text, count=1))
    found: dict[str, str] = {}
    current = ""
    for line in body.splitlines():
        if line.startswith("#"):
            title = line.lstrip("#").strip().casefold()
            current = next((name for each, name in headings.items() if each == title), "")
        elif current:
            found[current] = f"{found.get(current, '')}{line}\n"
    return {name: content.strip() for name, content in found.items()}


def numbers_in(text: str) -> list[float]:
    """The numbers that stand in a text, in order."""
    return [float(each.replace("−", "-")) for each in _NUMBER.findall(text)]


def vague_in(text: str) -> Vague | None:
    """The first sentence with an empty phrase and without a number or a piece of code."""
    for sentence in _SENTENCE.split(text):
        found = _VAGUE.search(sentence)
        if found and not _NUMBER.search(sentence) and not _CODE.search(sentence):
            return Vague(found[0], " ".join(sentence.split()))
    return None
