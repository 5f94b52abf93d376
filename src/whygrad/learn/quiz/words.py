"""What the quiz says in one language: phrases, percentages, names of topics."""

from __future__ import annotations

from whygrad.learn.content import phrases
from whygrad.learn.language import Language, Words, in_language
from whygrad.learn.references import command_for
from whygrad.learn.shares import whole_percent

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
        return self("percent", value=whole_percent(share))

    def command(self, arguments: str) -> str:
        """A ``whygrad`` command for the learner to type, in this language."""
        return in_language(f"whygrad {arguments}", self.language)

    def place(self, reference: str) -> str:
        """Where a reference leads: what to type or open here."""
        return command_for(reference, self.language)

    def place_in_a_file(self, reference: str) -> str:
        """The same for a page that will be read elsewhere; the same page is written everywhere."""
        return command_for(reference, self.language, otherwise="en")

    def topic(self, topic: str) -> str:
        """A topic's name, or its id in words where it has none."""
        return self._phrases.get("topic_" + topic.replace("-", "_"), topic.replace("-", " "))

    @staticmethod
    def number(value: float) -> str:
        """A number as one would type it."""
        return f"{value:.10g}"
