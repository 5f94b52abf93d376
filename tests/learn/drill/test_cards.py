"""The cards: short, one question each, with ids and dates that Anki can rely on."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.learn.drill import revisions
from whygrad.learn.content import Card, Deck, decks
from whygrad.learn.drill.notes import notes_of
from whygrad.learn.language import LANGUAGES
from whygrad.learn.markup import to_plain

CARDS = [card for deck in decks() for card in deck.cards]
SUBJECTS = {
    "d-03-01": "VJP",
    "d-03-02": "detach()",
    "d-03-03": "activation memory",
    "d-03-04": "checkpointing",
    "d-03-05": "gradcheck",
    "d-03-06": "anomaly mode",
    "d-03-07": "autograd.Function",
    "d-03-08": "retain_graph",
    "d-03-09": "forward and in reverse mode",
    "d-03-10": "causes of NaN",
}


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
def test_a_card_is_short(card: Card) -> None:
    for language in LANGUAGES:
        assert len(to_plain(card.back[language]).split()) <= 60
        assert len(to_plain(card.front[language]).split()) <= 30
        assert to_plain(card.front[language]).endswith(("?", "."))


def test_no_question_twice() -> None:
    for language in LANGUAGES:
        counted = Counter(card.front[language] for card in CARDS)
        assert [front for front, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("deck", decks(), ids=lambda deck: deck.id)
def test_ids_of_a_deck_are_numbered_in_order(deck: Deck) -> None:
    numbers = range(1, len(deck.cards) + 1)
    assert [card.id for card in deck.cards] == [f"d-{deck.number}-{n:02d}" for n in numbers]
    assert deck.source == f"{deck.id}.yaml"


def test_ids_keep_their_subjects() -> None:
    fronts = {card.id: to_plain(card.front["en"]) for card in CARDS}
    for name, subject in SUBJECTS.items():
        assert subject in fronts[name]
    assert decks()[2].name == "Tokens to Embodied Minds · Ch 03"


def test_guids_are_unique() -> None:
    notes = [note for language in LANGUAGES for note in notes_of(decks(), language)]
    assert len({note.guid for note in notes}) == len(notes) == 2 * len(CARDS)


@pytest.mark.parametrize("deck", decks(), ids=lambda deck: deck.id)
def test_a_changed_deck_is_dated(deck: Deck) -> None:
    known = {"revised": deck.revised, "fingerprint": revisions.fingerprint(deck)}
    assert revisions.recorded().get(deck.id) == known, "run python -m tests.learn.drill.revisions"
