"""A session at the terminal: front, back, rating; each review is kept at once."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.text import Text

from whygrad.learn import markup
from whygrad.learn.content import Card, Deck, phrases
from whygrad.learn.drill import progress
from whygrad.learn.drill.due import NEW_PER_DAY, Queue, midnight, new_today
from whygrad.learn.drill.keyboard import Keys
from whygrad.learn.drill.review import RATINGS, Rating, Review
from whygrad.learn.drill.schedule import CardStanding, fsrs_version, intervals, reviewed, standings
from whygrad.learn.drill.wording import in_words
from whygrad.learn.language import Language, in_language
from whygrad.learn.references import command_for

__all__ = ["NAMES", "DrillSession", "kept_standings"]

NAMES: dict[Rating, str] = {1: "again", 2: "hard", 3: "good", 4: "easy"}
_COLOURS: dict[Rating, str] = {1: "red", 2: "yellow", 3: "green", 4: "cyan"}
_CLOCKS_DIFFER = timedelta(days=1)  # at most, between the computers of one learner


def _now() -> datetime:
    return datetime.now(UTC)


class _Stop(Exception):
    """The learner wants to stop."""


class DrillSession:
    """Asks the cards of some decks until none is due or the learner stops."""

    def __init__(
        self,
        console: Console,
        decks: Sequence[Deck],
        path: Path,
        language: Language,
        keys: Keys,
        *,
        limit: int | None = None,
        new: int | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._console = console
        self._decks = decks
        self._path = path
        self._language = language
        self._keys = keys
        self._limit = limit
        self._clock = clock
        self._words = phrases("drill", language)
        self._given: Counter[Rating] = Counter()
        self._deck_of = {card.id: deck for deck in decks for card in deck.cards}
        self._last_deck: Deck | None = None

        self._standings = kept_standings(console, path, language, clock())
        if new is None:
            new = max(0, NEW_PER_DAY - new_today(self._standings.values(), clock()))
        self._queue = Queue(decks, self._standings, new=new)

    def run(self) -> None:
        """Until nothing is due, the limit is reached, or the learner stops: then a summary."""
        with contextlib.suppress(_Stop, EOFError, KeyboardInterrupt):
            while self._limit is None or self._given.total() < self._limit:
                card = self._queue.pop(self._clock())
                if card is None:
                    break
                self._ask(card)
        self._summary()

    def _ask(self, card: Card) -> None:
        console, words, language = self._console, self._words, self._language
        begun = self._clock()
        left = words["left"].format(due=self._queue.due(begun), new=self._queue.new)
        deck = self._deck_of[card.id]
        console.rule(Text(f"{card.id} · {left}", style="dim"), align="left", style="dim")
        if deck is not self._last_deck:  # the learner should know when the subject changes
            self._last_deck = deck
            title = f"{words['deck']} {deck.number}: {markup.to_plain(deck.title[language])}"
            console.print(Text(title, "dim"))
        console.print(markup.to_terminal(card.front[language]), style="bold")
        console.print()
        self._key(words["show"])
        console.print(markup.to_terminal(card.back[language]))
        if card.see:
            commands = ", ".join(command_for(each, language) for each in card.see)
            console.print(Text(f"{words['see']}: {commands}", style="dim"))
        console.print()

        standing = self._standings.get(card.id)
        rating = self._rating(standing)
        time = self._clock()
        seconds = round(max((time - begun).total_seconds(), 0.0), 1)
        review = Review(card.id, time, rating, language, seconds, fsrs_version())
        progress.append(self._path, review)
        self._standings[card.id] = reviewed(standing, rating, time)
        self._queue.put(card, self._standings[card.id].due)
        self._given[rating] += 1

    def _rating(self, standing: CardStanding | None) -> Rating:
        prompt = Text()
        for rating, length in intervals(standing, self._clock()).items():
            prompt.append(f"{rating} {self._words[NAMES[rating]]}", _COLOURS[rating])
            prompt.append(f" ({in_words(length, self._words)})   ", "dim")
        while True:
            key = self._key(prompt)
            for rating in RATINGS:
                if key == str(rating):
                    return rating
            self._console.print(self._words["rating_wanted"])

    def _key(self, prompt: str | Text) -> str:
        self._console.print(prompt, style="dim" if isinstance(prompt, str) else "")
        key = self._keys()
        if key in ("q", "Q"):
            raise _Stop
        return key

    def _summary(self) -> None:
        console, words, now = self._console, self._words, self._clock()
        console.rule(style="dim")
        count = self._given.total()
        if count:
            parts = ", ".join(
                f"{words[NAMES[rating]]} {self._given[rating]}"
                for rating in RATINGS
                if self._given[rating]
            )
            console.print(words["reviewed"].format(count=count, parts=parts))
        elif self._queue.pop(now) is None:
            console.print(words["nothing_due"])
        else:
            console.print(words["nothing_reviewed"])
        cards = [card.id for deck in self._decks for card in deck.cards]
        dues = [self._standings[card].due for card in cards if card in self._standings]
        _forecast(console, words, dues, now)
        fresh = sum(card not in self._standings for card in cards)
        if fresh:
            more = in_language("whygrad drill --new 10", self._language)
            console.print(words["new_left"].format(count=fresh, command=more))


def kept_standings(
    console: Console, path: Path, language: Language, now: datetime
) -> dict[str, CardStanding]:
    """Where each card stands by the reviews; says so when something in there cannot count."""
    words = phrases("drill", language)
    kept = progress.read(path)
    past = [review for review in kept.entries if review.time <= now + _CLOCKS_DIFFER]
    if kept.torn:
        console.print(Text(phrases("journal", language)["torn"].format(path=path), "yellow"))
    if future := len(kept.entries) - len(past):
        console.print(Text(words["future"].format(count=future), "yellow"))
    return standings(past)


def _forecast(
    console: Console, words: Mapping[str, str], dues: Sequence[datetime], now: datetime
) -> None:
    if not dues:
        return
    tonight, tomorrow = midnight(now, 1), midnight(now, 2)
    first = min(dues)
    when = words["now"] if first <= now else words["in"].format(span=in_words(first - now, words))
    console.print(
        words["next"].format(
            when=when,
            today=sum(due < tonight for due in dues),
            tomorrow=sum(tonight <= due < tomorrow for due in dues),
        )
    )
