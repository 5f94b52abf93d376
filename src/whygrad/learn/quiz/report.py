"""What stands at the end of a run, in the list of quizzes and in a learner's results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whygrad.learn.content import Question, Quiz
from whygrad.learn.markup import to_plain, to_terminal
from whygrad.learn.quiz.asking import Ending
from whygrad.learn.quiz.memory import Run, Standing
from whygrad.learn.quiz.words import Speech

__all__ = ["by_topic", "show_end", "show_list", "show_results"]


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
    standing: Standing,
) -> None:
    """The score of a run and what to do next."""
    console.print()
    if ending != "done":
        console.print(Text(say(f"stopped_{ending}"), "bold"))
    scores = run.scores()
    questions = [question for question in quiz.questions if question.id in run.questions]
    if scores:
        points = f"{sum(scores.values()):.2f}".rstrip("0").rstrip(".")
        share = sum(scores.values()) / len(scores)
        console.rule(
            Text(
                f"{say('your_score')}: {say('of_points', points=points, total=len(scores))}"
                f" ({say.percent(share)})",
                "bold",
            ),
            align="left",
        )
        console.print(_topics(say, by_topic(questions, scores)))
        _show_repeats(console, say, [each for each in questions if scores.get(each.id, 1) < 1])
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
    console.print()
    console.print(Text(say("to_repeat"), "bold"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for question in questions:
        first = to_plain(say.of(question.prompt)).partition("\n")[0]
        short = first if len(first) <= 100 else first[:99].rstrip() + "…"
        look = Text("\n".join(map(say.place, question.see)), "cyan")
        grid.add_row(Text(question.id), Text(short + "\n") + look)
    console.print(grid)


def _show_next(console: Console, say: Speech, quiz: Quiz, run: Run, standing: Standing) -> None:
    open_questions = len(set(run.questions) - run.settled())
    quiz_name = f"quiz {quiz.number}"
    console.print()
    if run.whole and run.finished and standing.best is not None:
        console.print(say("best_so_far", best=say.percent(standing.best)))
    if run.whole and open_questions:
        rest = say("still_open", count=open_questions, total=len(run.questions))
        console.print(f"{rest} ", Text(say.command(quiz_name), "cyan"), sep="")
    elif standing.missed:
        console.print(
            f"{say('repeat_with')} ", Text(say.command(f"{quiz_name} --wrong"), "cyan"), sep=""
        )
    elif run.finished:
        console.print(Text(say("all_right"), "bold green"))


def show_list(console: Console, say: Speech, standings: Sequence[Standing]) -> None:
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


def _state(say: Speech, standing: Standing) -> str:
    if standing.unfinished:
        run = standing.unfinished
        return say("state_open", count=len(set(run.questions) - run.settled()))
    if standing.missed:
        return say("state_repeat", count=len(standing.missed))
    return say("state_done" if standing.best is not None else "state_new")


def show_results(console: Console, say: Speech, standings: Sequence[Standing]) -> None:
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
        _show_repeats(console, say, [each for each in quiz.questions if each.id in standing.missed])
        console.print()
