"""The file of answers: only added to, and whatever happened to it, the rest still counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.learn.quiz.course import fixture_quiz
from whygrad.learn.quiz.progress import QuizProgress, Run

QUIZ = fixture_quiz()
ALL = [question.id for question in QUIZ.questions]


@pytest.fixture
def progress(tmp_path: Path) -> QuizProgress:
    return QuizProgress(tmp_path / "quizzes.jsonl")


def whole(progress: QuizProgress, score: float) -> Run:
    run = progress.begin(QUIZ, ALL, whole=True, language="en")
    for name in ALL:
        progress.keep(run, name, score, "x")
    return run


def test_nothing_yet(progress: QuizProgress) -> None:
    standing = progress.standing(QUIZ)
    assert (standing.best, standing.missed, standing.unfinished) == (None, (), None)
    assert not progress.journal.path.exists()


def test_each_answer_is_on_the_disk_at_once(progress: QuizProgress) -> None:
    run = progress.begin(QUIZ, ALL, whole=True, language="en")
    assert not progress.journal.path.exists()  # a run that asked nothing leaves no trace
    progress.keep(run, ALL[0], 1.0, ["b"])
    progress.keep(run, ALL[1], 0.5, ["a"])
    events = [json.loads(line) for line in progress.journal.path.read_text().splitlines()]
    assert [event["event"] for event in events] == ["begin", "answer", "answer"]
    assert events[0]["questions"] == ALL
    assert (events[2]["question"], events[2]["score"]) == (ALL[1], 0.5)


def test_the_file_is_only_added_to(progress: QuizProgress) -> None:
    whole(progress, 0.0)
    before = progress.journal.path.read_bytes()
    whole(progress, 1.0)
    assert progress.journal.path.read_bytes().startswith(before)


def test_the_best_whole_run_counts(progress: QuizProgress) -> None:
    whole(progress, 0.5)
    whole(progress, 0.25)
    some = progress.begin(QUIZ, ALL[:1], whole=False, language="en")
    progress.keep(some, ALL[0], 1.0, "x")
    assert progress.standing(QUIZ).best == 0.5


def test_what_was_missed_goes_by_the_last_answer(progress: QuizProgress) -> None:
    run = progress.begin(QUIZ, ALL, whole=True, language="en")
    progress.keep(run, ALL[0], 0.0, "x")
    progress.keep(run, ALL[1], 0.5, "x")
    progress.keep(run, ALL[2], 1.0, "x")
    again = progress.begin(QUIZ, ALL[:1], whole=False, language="en")
    progress.keep(again, ALL[0], 1.0, "x")
    assert progress.standing(QUIZ).missed == (ALL[1],)


def test_a_run_that_was_left_can_go_on(progress: QuizProgress) -> None:
    run = progress.begin(QUIZ, ALL, whole=True, language="en")
    progress.keep(run, ALL[0], 1.0, "x")
    left = progress.standing(QUIZ).unfinished
    assert left is not None
    assert (left.id, left.settled()) == (run.id, {ALL[0]})
    for name in ALL[1:]:
        progress.keep(left, name, 0.0, "x")
    standing = progress.standing(QUIZ)
    assert standing.unfinished is None
    assert standing.best == pytest.approx(0.1)
    assert len(standing.runs) == 1


def test_an_answer_without_a_grade_is_kept_and_asked_again(progress: QuizProgress) -> None:
    run = progress.begin(QUIZ, ALL, whole=True, language="en")
    progress.keep(run, ALL[4], None, {"text": "half a thought"})
    left = progress.standing(QUIZ).unfinished
    assert left is not None
    assert left.settled() == set()
    assert left.answers[0].answer == {"text": "half a thought"}


def test_what_cannot_be_asked_here_does_not_count(progress: QuizProgress) -> None:
    run = progress.begin(QUIZ, ALL, whole=True, language="en")
    for name in ALL[:9]:
        progress.keep(run, name, 1.0, "x")
    progress.keep(run, ALL[9], None, None, skipped=True)
    assert progress.standing(QUIZ).best == 1.0
    assert progress.standing(QUIZ).missed == ()


@pytest.mark.parametrize(
    "damage",
    [
        b'{"event": "answer", "run": "nobody", "question": "q", "score": 1, "at": "", "answer": 0}',
        b'{"event": "ans',
        b"not json",
        b"[]",
        b"null",
        b"3",
        b'{"event": "begin"}',
        b'{"event": "begin", "run": "r", "quiz": "q", "at": "", "questions": [], "whole": true}',
        b'{"event": "begin", "run": [], "quiz": "q", "at": "", "questions": ["a"], "whole": true}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"",
    ],
)
def test_a_damaged_line_is_passed_over(progress: QuizProgress, damage: bytes) -> None:
    whole(progress, 0.5)
    with open(progress.journal.path, "ab") as stream:
        stream.write(damage)  # without an end of line, as after a crash
    whole(progress, 1.0)
    standing = progress.standing(QUIZ)
    assert standing.best == 1.0
    assert len(standing.runs) == 2


@pytest.mark.parametrize("score", ["NaN", "7", "-3", '"1"', "1e999", "1" + "0" * 400])
def test_a_score_from_elsewhere_stays_between_0_and_1(progress: QuizProgress, score: str) -> None:
    run = whole(progress, 0.0)
    line = (
        f'{{"event": "answer", "run": "{run.id}", "question": "{ALL[0]}", "score": {score},'
        ' "at": "9", "answer": 0, "skipped": false}\n'
    )
    with open(progress.journal.path, "a") as stream:
        stream.write(line)
    kept = progress.standing(QUIZ).latest[ALL[0]].score
    assert kept is not None
    assert 0 <= kept <= 1


def test_a_clock_that_was_wrong_does_not_matter(
    progress: QuizProgress, monkeypatch: pytest.MonkeyPatch
) -> None:
    for year, score in (("2150", 0.0), ("2026", 1.0), ("1999", 0.5)):
        monkeypatch.setattr("whygrad.learn.quiz.progress._now", lambda year=year: f"{year}-01-01")
        run = progress.begin(QUIZ, ALL[:1], whole=False, language="en")
        progress.keep(run, ALL[0], score, "x")
        assert progress.standing(QUIZ).latest[ALL[0]].score == score


def test_runs_in_turns_go_by_the_last_answer(progress: QuizProgress) -> None:
    left = progress.begin(QUIZ, ALL, whole=True, language="en")
    progress.keep(left, ALL[0], 1.0, "x")
    again = progress.begin(QUIZ, ALL[1:2], whole=False, language="en")
    progress.keep(again, ALL[1], 1.0, "x")
    progress.keep(left, ALL[1], 0.0, "x")
    assert progress.standing(QUIZ).missed == (ALL[1],)


def test_a_question_that_is_gone_counts_nowhere(progress: QuizProgress) -> None:
    run = progress.begin(QUIZ, ["q-99-77", ALL[0]], whole=False, language="en")
    progress.keep(run, "q-99-77", 0.0, "x")
    progress.keep(run, ALL[0], 1.0, "x")
    standing = progress.standing(QUIZ)
    assert set(standing.latest) == {ALL[0]}
    assert standing.missed == ()


def test_an_answer_to_what_was_not_asked_is_passed_over(progress: QuizProgress) -> None:
    run = whole(progress, 1.0)
    progress.keep(run, "q-99-77", 1.0, "x")
    assert progress.standing(QUIZ).best == 1.0


def test_lines_that_stand_there_twice_count_once(progress: QuizProgress) -> None:
    whole(progress, 0.5)
    whole(progress, 0.25)
    before = progress.standing(QUIZ)
    progress.journal.path.write_bytes(progress.journal.path.read_bytes() * 2)
    after = progress.standing(QUIZ)
    assert (after.best, after.missed) == (before.best, before.missed) == (0.5, tuple(ALL))
    assert len(after.runs) == len(before.runs) == 2


def test_any_text_can_be_kept(progress: QuizProgress) -> None:
    run = progress.begin(QUIZ, ALL, whole=True, language="en")
    progress.keep(run, ALL[0], 1.0, {"text": "línea\u2028 1\n2 \x1b \ud83d 🙂"})
    (kept,) = progress.runs()[0].answers
    assert kept.answer == {"text": "línea\u2028 1\n2 \x1b ? 🙂"}
