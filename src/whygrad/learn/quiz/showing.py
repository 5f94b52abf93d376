"""A question and what is said about an answer, in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from whygrad.learn.content import Option, Question
from whygrad.learn.markup import to_screen, to_terminal
from whygrad.learn.quiz.answers import Printed, Remark, Verdict, first_out_of_place, signs_of
from whygrad.learn.quiz.repair import repair
from whygrad.learn.quiz.words import Speech

__all__ = ["QuestionScreen"]

_RIGHT, _PARTLY, _WRONG = "green", "yellow", "red"


class QuestionScreen:
    """Writes to a console in one language."""

    def __init__(self, console: Console, say: Speech) -> None:
        self.console = console
        self.say = say

    def text(self, source: str, style: str = "") -> None:
        """A text in the course's notation."""
        self.console.print(to_screen(source), style=style)

    def question(
        self, question: Question, options: Sequence[Option], place: int, total: int
    ) -> None:
        """Everything but the prompt at which the learner types."""
        at = self.say("place", place=place, total=total)
        title = Text.assemble((at, "bold"), f" · {question.id} · {self.say.topic(question.topic)}")
        self.console.print()
        self.console.rule(title, align="left")
        self.text(self.say.of(question.prompt))
        if question.code:
            self.console.print()
            self.console.print(_program(question.code))
        if options:
            self.console.print()
            self.console.print(self.options(question, options))
        self.console.print()
        self.text(self.say(f"how_{question.kind}"), "dim")
        self.text(self.say("how_else"), "dim")

    def options(self, question: Question, options: Sequence[Option]) -> Padding:
        return _labelled(
            (Text(f"{sign})", "bold"), to_screen(self.say.of(option.text)))
            for sign, option in zip(signs_of(question), options)
        )

    def help(self, question: Question) -> None:
        self.text(f"- {self.say('how_' + question.kind)}\n{self.say('help')}")

    def refuse(self, key: str, **details: object) -> None:
        """Something typed is no answer."""
        self.text(self.say(key, **details), "yellow")

    def verdict(self, verdict: Verdict) -> None:
        """Right, partly right or wrong."""
        if verdict.right:
            self.console.print(Text(f"✓ {self.say('right')}", f"bold {_RIGHT}"))
        elif verdict.score:
            score = self.say.percent(verdict.score)
            self.console.print(Text(f"◐ {self.say('partly', score=score)}", f"bold {_PARTLY}"))
        else:
            self.console.print(Text(f"✗ {self.say('wrong')}", f"bold {_WRONG}"))

    def choices(self, question: Question, options: Sequence[Option], verdict: Verdict) -> None:
        """What was chosen and why it is right or wrong; then what would have been right."""
        letters = {option.id: letter for letter, option in zip(signs_of(question), options)}
        self.console.print(
            _labelled(
                (Text(f"{letters[remark.about]})", "bold"), self._remark(remark))
                for remark in sorted(verdict.remarks, key=lambda remark: letters[remark.about])
            )
        )
        if not verdict.right:
            right = [option for option in options if option.correct]
            if question.kind == "single":
                self.console.print(Text(self.say("answer_is"), "bold"))
                self.console.print(
                    _labelled(
                        (Text(f"{letters[each.id]})", "bold"), to_screen(self.say.of(each.text)))
                        for each in right
                    )
                )
            else:
                listed = " ".join(letters[each.id] for each in right)
                self.console.print(Text.assemble((self.say("answer_is"), "bold"), f" {listed}"))

    def _remark(self, remark: Remark) -> Text:
        sign, style = ("✓", _RIGHT) if remark.right else ("✗", _WRONG)
        shown = Text(f"{sign} ", style)
        if remark.missed:
            shown = Text(f"○ {self.say('belongs')}. ", _PARTLY)
        return shown + (to_terminal(self.say.of(remark.text)) if remark.text else Text())

    def number(self, question: Question) -> None:
        assert question.answer is not None
        answer = self.say.number(question.answer)
        if question.tolerance:
            near = self.say("tolerance", tolerance=self.say.number(question.tolerance))
            answer += f" ({near})"
        self.console.print(Text.assemble((self.say("answer_is"), "bold"), f" {answer}"))

    def order(self, question: Question, options: Sequence[Option], items: Sequence[str]) -> None:
        """The right order, and where the learner's begins to differ."""
        wrong = first_out_of_place(question, items)
        if wrong is not None:
            self.console.print(self.say("out_of_place", place=wrong + 1))
        numbers = {option.id: number for number, option in zip(signs_of(question), options)}
        order = " ".join(numbers[option.id] for option in question.options)
        self.console.print(Text.assemble((self.say("order_is"), "bold"), f" {order}"))
        rows = []
        for option in question.options:
            text = to_terminal(self.say.of(option.text))
            if option.feedback:
                text.append("\n").append(to_terminal(self.say.of(option.feedback)))
            rows.append((Text(f"{numbers[option.id]})", "bold"), text))
        self.console.print(_labelled(rows))

    def rubric(self, question: Question) -> None:
        """What a good answer says, before the learner grades their own."""
        if question.model_answer:
            self.console.print(Text(self.say("model_answer"), "bold"))
            self._indented(to_screen(self.say.of(question.model_answer)))
        self.console.print(Text(self.say("grade_yourself"), "bold"))

    def mention(self, number: int, text: str) -> None:
        self.console.print(_labelled([(Text(f"{number}.", "bold"), to_screen(text))]))

    def printed(self, rows: Sequence[Printed]) -> None:
        """The program's output; where the learner's differs, both."""
        self.console.print(Text(self.say("it_printed"), "bold"))
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=1)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        nothing = Text(self.say("nothing_there"), "dim")
        for row in rows:
            sign = Text("✓", _RIGHT) if row.same else Text("✗", _WRONG)
            label = "" if row.same else self.say("printed_line")
            grid.add_row(
                sign, Text(label, "dim"), nothing if row.expected is None else Text(row.expected)
            )
            if not row.same:
                mine = nothing if row.given is None else Text(row.given, _WRONG)
                grid.add_row("", Text(self.say("your_line"), "dim"), mine)
        self._indented(grid)
        if any(row.comma for row in rows):
            self.refuse("no_comma")

    def line(self, question: Question, verdict: Verdict) -> None:
        """What the chosen line does, and which one is wrong."""
        (remark,) = verdict.remarks
        if remark.text:
            self.text(self.say.of(remark.text))
        elif not verdict.right:
            self.console.print(self.say("not_that_line", line=remark.about))
        if not verdict.right:
            lines = ", ".join(map(str, question.lines))
            self.console.print(Text(self.say("line_is", lines=lines), "bold"))

    def explanation(self, question: Question) -> None:
        """Why, the repaired program, and where to look."""
        self.console.print()
        self.text(self.say.of(question.explanation))
        if question.fix:
            self.console.print()
            self.console.print(Text(self.say("repair"), "bold"))
            self._indented(Syntax(repair(question), "diff", theme="ansi_dark", word_wrap=True))
        self.console.print()
        look = Text("\n".join(map(self.say.place, question.see)), "cyan")
        self.console.print(_labelled([(Text(self.say("look_at"), "bold"), look)], indent=0))

    def _indented(self, shown: RenderableType) -> None:
        self.console.print(Padding(shown, (0, 0, 0, 2)))


def _program(code: str) -> Syntax:
    """A program with the numbers of its lines; without a frame, which would take their room."""
    return Syntax(code.rstrip("\n"), "python", line_numbers=True, theme="ansi_dark", word_wrap=True)


def _labelled(rows: Iterable[tuple[Text, RenderableType]], indent: int = 2) -> Padding:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(label, text)
    return Padding(grid, (0, 0, 0, indent))
