"""A learner's reviews: kept, taken to another computer, and brought from there.

When a card is due follows from all its reviews.  So a journal with a line that is no review is
refused until somebody has repaired it: leaving one out would change the schedule unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from whygrad.errors import fail
from whygrad.learn.drill.review import Review, from_record, to_record
from whygrad.learn.journal import Contents, Journal, encoded
from whygrad.learn.writing import write

__all__ = ["append", "export", "merge", "read", "read_foreign"]


def read(path: Path) -> Contents[Review]:
    """The reviews of this learner; none if there is no file yet."""
    return _journal(path).read().sound()


def append(path: Path, review: Review) -> None:
    """Adds one review; when this returns, it is on the disk."""
    _journal(path).append(to_record(review))


def merge(path: Path, reviews: Iterable[Review]) -> int:
    """Adds the reviews that are not there yet, all of them or none; returns how many."""
    added: dict[object, Review] = {}

    def missing(present: tuple[Review, ...]) -> Iterable[dict[str, object]]:
        known = {review.key for review in present}
        added.update({review.key: review for review in reviews if review.key not in known})
        return map(to_record, added.values())

    _journal(path).merge(missing)
    return len(added)


def export(path: Path, target: Path) -> int:
    """Writes all reviews to another file, oldest first; returns how many."""
    reviews = sorted(read(path).entries, key=lambda review: (review.time, review.card))
    write(target, encoded(map(to_record, reviews)))
    return len(reviews)


def read_foreign(path: Path) -> tuple[Review, ...]:
    """The reviews of a file somebody wants to bring in: complete, or refused."""
    contents = _journal(path).parsed(path.read_bytes()).sound()
    if contents.torn:
        raise fail(
            ValueError,
            call=f"reading {path}",
            cause="the last line is cut off",
            fix="export it again, or remove that line",
            where=None,
        )
    return contents.entries


def _journal(path: Path) -> Journal[Review]:
    return Journal(path, from_record, "a review")
