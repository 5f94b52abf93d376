"""What the quiz says in one language: phrases, percentages, names of topics."""

from __future__ import annotations

from whygrad.learn.content import phrases
from whygrad.learn.language import Language, Words

__all__ = ["Speech"]


class Speech:
    def __init__(self, language: Language) -> None:
        self.language = language
        self._phrases = phrases("quiz", language)

    def __call__(self, key: str, **details: object) -> str:
        """A phrase by its key, with its details filled in."""
        return self._phrases[key].format(**details)

    def raw(self, key: str) -> str:
        """A phrase with the places of its details still open."""
        return self._phrases[key]

    def of(self, words: Words) -> str:
        """A text of the course."""
        return words[self.language]

    def percent(self, share: float) -> str:
        """Rounded down, so that only a perfect score is 100 %."""
        return self("percent", value=int(share * 100 + 1e-9))

    def topic(self, topic: str) -> str:
        """A topic's name, or its id in words where it has none."""
        return self._phrases.get("topic_" + topic.replace("-", "_"), topic.replace("-", " "))

    @staticmethod
    def number(value: float) -> str:
        """A number as one would type it."""
        return f"{value:.10g}"
