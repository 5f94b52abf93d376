"""A review and its record: each tells the other, and what is no review says why."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.drill.support import NOON, review
from whygrad.learn.drill.review import Review, from_record, to_record

TIMES = st.datetimes(datetime(2000, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC))
REVIEWS = st.builds(
    Review,
    card=st.from_regex(r"d-[0-9]{2}-[0-9]{2}", fullmatch=True),
    time=TIMES,
    rating=st.sampled_from([1, 2, 3, 4]),
    language=st.sampled_from(["en", "es"]),
    seconds=st.floats(0, 1e6),
    fsrs=st.text(max_size=12),
)


@given(REVIEWS)
def test_a_record_tells_its_review(each: Review) -> None:
    assert from_record(json.loads(json.dumps(to_record(each)))) == each


def test_a_time_in_another_zone_is_the_same_time() -> None:
    there = NOON.astimezone(timezone(timedelta(hours=-5)))
    again = from_record({**to_record(review()), "time": there.isoformat()})
    assert again == review()
    assert again.time.tzinfo is UTC


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"card": "q-03-01"}, "card"),
        ({"card": 3}, "card"),
        ({"rating": 5}, "rating"),
        ({"rating": True}, "rating"),
        ({"rating": "3"}, "rating"),
        ({"rating": [3]}, "rating"),
        ({"language": "fr"}, "language"),
        ({"language": ["en"]}, "language"),
        ({"time": "2026-03-02T12:00:00"}, "time zone"),
        ({"time": "yesterday"}, "time"),
        ({"time": 17}, "time"),
        ({"time": "0001-01-01T00:00:00+10:00"}, "time"),
        ({"time": "9999-01-01T00:00:00+00:00"}, "out of range"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": "2"}, "seconds"),
        ({"seconds": 10**400}, "seconds"),
        ({"fsrs": None}, "fsrs"),
    ],
)
def test_a_line_that_is_no_review(change: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        from_record({**to_record(review()), **change})


@pytest.mark.parametrize("name", ["card", "time", "rating", "language", "seconds", "fsrs"])
def test_each_field_is_needed(name: str) -> None:
    fields = to_record(review())
    del fields[name]
    with pytest.raises(ValueError, match=f'"{name}" is missing'):
        from_record(fields)
