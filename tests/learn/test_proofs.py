"""Every claim of the course is proved by a program, or says why it cannot be."""

from __future__ import annotations

import pytest

from tests.learn.proofs import Proof, all_proofs
from whygrad.learn.content import decks, quizzes

ITEMS = [
    *(question for quiz in quizzes() for question in quiz.questions),
    *(card for deck in decks() for card in deck.cards),
]
PROOFS = all_proofs()


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_each_claim_is_proved_or_says_why_not(item) -> None:
    if getattr(item, "kind", "") == "predict":
        return  # its program is its proof; what the explanation adds may have another
    if item.unproven:
        assert item.id not in PROOFS
    else:
        assert item.id in PROOFS, f"no function in tests/learn/proofs is marked with {item.id}"


def test_no_proof_of_something_that_is_not_there() -> None:
    assert set(PROOFS) <= {item.id for item in ITEMS}


@pytest.mark.parametrize(
    "proof",
    [
        pytest.param(proof, id=f"{name}-{proof.__name__}")
        for name, proofs in sorted(PROOFS.items())
        for proof in proofs
    ],
)
def test_proof(proof: Proof) -> None:
    proof()
