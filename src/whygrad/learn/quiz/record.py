"""Quizzes with their answers, and a learner's results, as plain data for other programs.

docs/quizzes.md describes the fields.
"""

from __future__ import annotations

from collections.abc import Sequence

from whygrad.learn.content import Question, Quiz
from whygrad.learn.quiz.progress import Answer, QuizStanding, Run
from whygrad.learn.quiz.report import by_topic
from whygrad.learn.quiz.running import CannotRun, output_of
from whygrad.learn.references import command_for

__all__ = ["SCHEMA", "answer_of", "quizzes_record", "results_record"]

SCHEMA = 1


def quizzes_record(quizzes: Sequence[Quiz]) -> dict[str, object]:
    """Every question with its answer; texts in both languages."""
    return {"schema": SCHEMA, "quizzes": [_quiz(quiz) for quiz in quizzes]}


def _quiz(quiz: Quiz) -> dict[str, object]:
    return {
        "id": quiz.id,
        "number": quiz.number,
        "title": quiz.title,
        "about": quiz.about,
        "source": f"data/quizzes/{quiz.source}",
        "questions": [_question(question) for question in quiz.questions],
    }


def _question(question: Question) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": question.id,
        "kind": question.kind,
        "topic": question.topic,
        "prompt": question.prompt,
        "code": question.code,
        "options": [
            {"id": option.id, "text": option.text, "feedback": option.feedback}
            for option in question.options
        ],
        "answer": answer_of(question),
        "explanation": question.explanation,
        "see": {reference: command_for(reference) for reference in question.see},
    }
    if question.kind == "numeric":
        fields["tolerance"] = question.tolerance
    if question.kind == "free":
        fields["model_answer"] = question.model_answer
    if question.kind == "bug":
        fields["line_feedback"] = {str(line): text for line, text in question.line_feedback.items()}
        fields["fix"] = question.fix
    return fields


def answer_of(question: Question) -> object:
    """What is right: its form goes by the kind of question.

    The lines that a program prints are found by running it; ``None`` where it cannot run.
    """
    if question.kind in ("single", "multiple"):
        return [option.id for option in question.options if option.correct]
    if question.kind == "order":
        return [option.id for option in question.options]
    if question.kind == "numeric":
        return question.answer
    if question.kind == "free":
        return list(question.rubric)
    if question.kind == "bug":
        return list(question.lines)
    try:
        return output_of(question.code).splitlines()
    except CannotRun:
        return None


def results_record(standings: Sequence[QuizStanding]) -> dict[str, object]:
    """How a learner stands with each quiz: runs, topics, and every answer."""
    return {"schema": SCHEMA, "quizzes": [_standing(standing) for standing in standings]}


def _standing(standing: QuizStanding) -> dict[str, object]:
    quiz, latest = standing.quiz, standing.latest
    scores = {name: answer.score or 0.0 for name, answer in latest.items()}
    answers: dict[str, list[Answer]] = {question.id: [] for question in quiz.questions}
    for run in standing.runs:
        for answer in run.answers:
            answers.setdefault(answer.question, []).append(answer)
    return {
        "id": quiz.id,
        "number": quiz.number,
        "best": standing.best,
        "missed": list(standing.missed),
        "topics": {
            topic: {"score": sum(each) / len(each), "answered": len(each)}
            for topic, each in by_topic(quiz.questions, scores).items()
        },
        "runs": [_run(run) for run in standing.runs],
        "answers": {name: [_answer(each) for each in given] for name, given in answers.items()},
    }


def _run(run: Run) -> dict[str, object]:
    return {
        "id": run.id,
        "began": run.at,
        "last_answer": run.answers[-1].at if run.answers else None,
        "whole": run.whole,
        "finished": run.finished,
        "questions": list(run.questions),
        "score": run.score if run.finished else None,
    }


def _answer(answer: Answer) -> dict[str, object]:
    return {
        "at": answer.at,
        "score": answer.score,
        "skipped": answer.skipped,
        "answer": answer.answer,
    }
