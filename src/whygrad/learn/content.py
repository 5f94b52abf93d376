"""Reading the course: quizzes, decks of cards and the words of the interface.

The files are plain data, loaded safely and checked against ``data/schema`` by the test suite.  An
id never changes its meaning: answers and review logs of learners refer to it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from whygrad.learn.language import Language, Words

__all__ = [
    "Card",
    "Deck",
    "Kind",
    "Option",
    "Question",
    "Quiz",
    "decks",
    "folder",
    "phrases",
    "quizzes",
    "read_yaml",
]

_PLACES = {"03": "08, then 03"}  # a chapter's number says nothing about its place among phases

Kind = Literal["single", "multiple", "numeric", "order", "free", "predict", "bug"]


@dataclass(frozen=True)
class Option:
    """One choice of a question, or one item of an ordering."""

    id: str
    text: Words
    correct: bool = False
    feedback: Words | None = None  # why it is wrong, or what is right about it


@dataclass(frozen=True)
class Question:
    """One question.  What a kind does not need is empty."""

    id: str
    kind: Kind
    topic: str
    prompt: Words
    explanation: Words
    see: tuple[str, ...]
    code: str = ""  # shown with the prompt; of a "predict" question, the program to run
    options: tuple[Option, ...] = ()  # single, multiple; of "order", the items as they belong
    answer: float | None = None  # numeric
    tolerance: float = 0.0  # numeric: the largest difference that still counts
    rubric: tuple[Words, ...] = ()  # free: what a good answer mentions
    model_answer: Words | None = None  # free
    lines: tuple[int, ...] = ()  # bug: the faulty line, or lines of which any counts
    line_feedback: Mapping[int, Words] = field(default_factory=dict)  # bug: why not this one
    fix: str = ""  # bug: the program repaired
    unproven: str = ""  # why no program can prove the answer


@dataclass(frozen=True)
class Quiz:
    id: str
    number: str  # what a person types: "07", "module"
    title: Words
    about: Words
    questions: tuple[Question, ...]
    source: str  # the file in data/quizzes


@dataclass(frozen=True)
class Card:
    id: str
    front: Words
    back: Words
    tags: tuple[str, ...]
    see: tuple[str, ...]
    unproven: str = ""


@dataclass(frozen=True)
class Deck:
    id: str
    number: str
    name: str  # the deck's name in Anki
    title: Words
    revised: str  # the day of the last correction: Anki takes a note only when it is newer
    cards: tuple[Card, ...]
    source: str


def folder() -> Path:
    """The folder of the course: inside an installed package, or ``data/`` of the repository."""
    installed = Path(__file__).parent / "course"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "data"


def read_yaml(path: Path) -> Any:
    """A YAML file as plain data."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same in C, where it is built in
    return yaml.load(path.read_text(encoding="utf-8"), loader)


@functools.cache
def quizzes() -> tuple[Quiz, ...]:
    """All quizzes, in the order of the course: by number, the module after the phases."""
    found = (_quiz(path) for path in (folder() / "quizzes").glob("*.yaml"))
    return tuple(sorted(found, key=lambda quiz: quiz.number))


@functools.cache
def decks() -> tuple[Deck, ...]:
    """All decks of cards, in the order of the course: the engines, then training with them."""
    found = (_deck(path) for path in (folder() / "drills").glob("*.yaml"))
    return tuple(sorted(found, key=lambda deck: _PLACES.get(deck.number, deck.number)))


@functools.cache
def phrases(part: str, language: Language) -> Mapping[str, str]:
    """What the interface of ``quiz``, ``drill`` or ``lab`` says in a language, by key."""
    both = read_yaml(folder() / "interface" / f"{part}.yaml")
    return {key: words[language] for key, words in both.items()}


def _quiz(path: Path) -> Quiz:
    raw = read_yaml(path)
    return Quiz(
        id=raw["id"],
        number=raw["number"],
        title=raw["title"],
        about=raw["about"],
        questions=tuple(_question(each) for each in raw["questions"]),
        source=path.name,
    )


def _question(raw: dict[str, Any]) -> Question:
    fields = dict(raw)
    fields["options"] = tuple(Option(**option) for option in raw.get("options", ()))
    for name in ("see", "rubric", "lines"):
        fields[name] = tuple(raw.get(name, ()))
    return Question(**fields)


def _deck(path: Path) -> Deck:
    raw = read_yaml(path)
    cards = tuple(
        Card(**{**card, "tags": tuple(card["tags"]), "see": tuple(card["see"])})
        for card in raw["cards"]
    )
    return Deck(
        id=raw["id"],
        number=raw["number"],
        name=raw["name"],
        title=raw["title"],
        revised=raw["revised"],
        cards=cards,
        source=path.name,
    )
