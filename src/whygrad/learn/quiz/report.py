"""What stands at the end of a run, in the list of quizzes and in a learner's results."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whygrad.learn.content import Question, Quiz, quizzes
from whygrad.learn.markup import to_plain, to_terminal
from whygrad.learn.quiz.asking import Ending
from whygrad.learn.quiz.progress import QuizStanding, Run
from whygrad.learn.quiz.words import Speech

__all__ = ["by_topic", "show_end", "show_list", "show_nothing_missed", "show_results"]

_REPEATS = 5  # of the questions to repeat, so that the score stays in sight


def by_topic(questions: Iterable[Question], scores: Mapping[str, float]) -> dict[str, list[float]]:
    """The scores of each topic that has any, in the order of the quiz."""
    topics: dict[str, list[float]] = {}
    for question in questions:
        if question.id in scores:
            topics.setdefault(question.topic, []).append(scores[question.id])
    return topics


def show_end(
    console: Console,
    say: Speech,
    quiz: Quiz,
    run: Run,
    ending: Ending,
    standing: QuizStanding,
) -> None:
    """What to repeat, the score, and what to do next: the last lines are the ones to see."""
    console.print()
    if ending != "done":
        console.print(Text(say(f"stopped_{ending}"), "bold"))
    scores = run.scores()
    questions = [question for question in quiz.questions if question.id in run.questions]
    if scores:
        points = f"{sum(scores.values()):.2f}".rstrip("0").rstrip(".")
        share = sum(scores.values()) / len(scores)
        console.rule()
        _show_repeats(console, say, [each for each in questions if scores.get(each.id, 1) < 1])
        console.print(_topics(say, by_topic(questions, scores)))
        console.print()
        score = say("of_points", points=points, total=len(scores))
        console.print(Text(f"{say('your_score')}: {score} ({say.percent(share)})", "bold"))
    _show_next(console, say, quiz, run, standing)


def _topics(say: Speech, topics: Mapping[str, Sequence[float]]) -> Table:
    grid = Table(say("topic"), box=None, pad_edge=False)
    grid.add_column(say("score"), justify="right")
    grid.add_column(say("questions"), justify="right")
    for topic, scores in topics.items():
        share = sum(scores) / len(scores)
        style = "green" if share == 1 else "yellow" if share else "red"
        grid.add_row(say.topic(topic), Text(say.percent(share), style), str(len(scores)))
    return grid


def _show_repeats(console: Console, say: Speech, questions: Sequence[Question]) -> None:
    if not questions:
        return
    console.print(Text(say("to_repeat"), "bold"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for question in questions[:_REPEATS]:
        first = to_plain(say.of(question.prompt)).partition("\n")[0]
        short = textwrap.shorten(first, 100, placeholder=" …")
        look = Text("\n".join(map(say.place, question.see)), "cyan")
        grid.add_row(Text(question.id), Text(short + "\n") + look)
    console.print(grid)
    if len(questions) > _REPEATS:
        console.print(say("and_more", count=len(questions) - _REPEATS))
    console.print()


def _show_next(console: Console, say: Speech, quiz: Quiz, run: Run, standing: QuizStanding) -> None:
    open_questions = len(set(run.questions) - run.settled())
    name = f"quiz {quiz.number}"
    if run.whole and run.finished and standing.best is not None:
        console.print(say("best_so_far", best=say.percent(standing.best)))
    if run.whole and open_questions:
        rest = say("still_open", count=open_questions, total=len(run.questions))
        _show_command(console, rest, say.command(name))
    elif standing.missed:
        _show_command(console, say("repeat_with"), say.command(f"{name} --wrong"))
    elif run.finished:
        console.print(Text(say("all_right"), "bold green"))
    if run.finished and (run.whole or (standing.best is not None and not standing.missed)):
        _show_way_on(console, say, quiz)


def _show_way_on(console: Console, say: Speech, quiz: Quiz) -> None:
    """The lab that the quiz speaks of most, and the quiz after it."""
    labs = Counter(place for each in quiz.questions for place in each.see if _is_lab(place))
    for lab, _ in labs.most_common(1):
        _show_command(console, say("next_lab"), say.place(lab))
    numbers = [each.number for each in quizzes()]
    for number in numbers[numbers.index(quiz.number) + 1 :][:1]:
        _show_command(console, say("next_quiz"), say.command(f"quiz {number}"))


def _is_lab(reference: str) -> bool:
    return reference.startswith("lab:")


def _show_command(console: Console, text: str, command: str) -> None:
    console.print(f"{text} ", Text(command, "cyan"), sep="")


def show_nothing_missed(console: Console, say: Speech, standing: QuizStanding) -> None:
    """Why there is nothing to repeat."""
    number = standing.quiz.number
    if standing.latest:
        console.print(say("none_left" if standing.slipped else "none_missed", number=number))
    else:
        _show_command(console, say("none_answered", number=number), say.command(f"quiz {number}"))


def show_list(console: Console, say: Speech, standings: Sequence[QuizStanding]) -> None:
    """Every quiz in a line."""
    grid = Table(box=None, pad_edge=False)
    for key in ("number", "title", "questions", "best", "state"):
        right = key in ("questions", "best")
        grid.add_column(say(key), justify="right" if right else "left", overflow="fold")
    for standing in standings:
        quiz = standing.quiz
        grid.add_row(
            Text(quiz.number, "bold cyan"),
            Text(to_plain(say.of(quiz.title))),
            str(len(quiz.questions)),
            "–" if standing.best is None else say.percent(standing.best),
            _state(say, standing),
        )
    console.print(grid)
    console.print()
    first = say.command(f"quiz {standings[0].quiz.number}")
    console.print(to_terminal(say("list_hint", command=first)))


def _state(say: Speech, standing: QuizStanding) -> str:
    if standing.unfinished:
        run = standing.unfinished
        return say("state_open", count=len(set(run.questions) - run.settled()))
    if standing.missed:
        return say("state_repeat", count=len(standing.missed))
    return say("state_done" if standing.best is not None else "state_new")


def show_results(console: Console, say: Speech, standings: Sequence[QuizStanding]) -> None:
    """Topic by topic, from the last answer to each question."""
    answered = [standing for standing in standings if standing.latest]
    if not answered:
        command = say.command(f"quiz {standings[0].quiz.number}")
        console.print(to_terminal(say("no_results", command=command)))
    for standing in answered:
        quiz = standing.quiz
        scores = {name: each.score or 0.0 for name, each in standing.latest.items()}
        best = "–" if standing.best is None else say.percent(standing.best)
        count = f"{say('answered')}: {len(scores)}/{len(quiz.questions)}"
        console.print(Text(to_plain(say.of(quiz.title)), "bold"))
        console.print(f"{count} · {say('best')}: {best}")
        console.print(_topics(say, by_topic(quiz.questions, scores)))
        console.print()
        _show_repeats(console, say, [each for each in quiz.questions if each.id in standing.missed])
        if standing.missed:
            command = say.command(f"quiz {quiz.number} --wrong")
            _show_command(console, say("repeat_with"), command)
            console.print()
