"""Asking in the terminal: one question after the other, each answer kept at once.

Where the lines come from is up to the caller: a keyboard or a pipe.  The end of the input, Ctrl-C
and ``q`` all end a run the same way: what was answered stays answered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from whygrad.learn.content import Option, Question
from whygrad.learn.quiz import reading
from whygrad.learn.quiz.answers import (
    Verdict,
    judge_choice,
    judge_line,
    judge_mentions,
    judge_number,
    judge_order,
    judge_output,
    shown_options,
    signs_of,
)
from whygrad.learn.quiz.progress import QuizProgress, Run
from whygrad.learn.quiz.running import CannotRun, output_of
from whygrad.learn.quiz.showing import QuestionScreen

__all__ = ["Asker", "Ending", "Read"]

Read = Callable[[str], str]
"""Shows a prompt, answers with a line; raises EOFError or KeyboardInterrupt as ``input`` does."""

Ending = Literal["done", "quit", "end", "interrupt"]

_T = TypeVar("_T")


class _Skip(Exception):
    pass


class _Quit(Exception):
    pass


class _Ungraded(Exception):
    """The learner answered in words and left before grading them."""

    def __init__(self, text: str, cause: BaseException) -> None:
        super().__init__(text)
        self.text = text
        self.cause = cause


class Asker:
    """Asks the questions of a run and keeps the answers."""

    def __init__(
        self,
        screen: QuestionScreen,
        read: Read,
        progress: QuizProgress,
        *,
        seed: str | None = None,
        pause: bool = False,
    ) -> None:
        self.screen = screen
        self.say = screen.say
        self.read = read
        self.progress = progress
        self.seed = seed
        self.pause = pause  # between an explanation and the next question

    def ask_all(self, run: Run, questions: Sequence[Question]) -> Ending:
        """Ask those questions of the run that are still open."""
        settled = run.settled()
        waiting = [question for question in questions if question.id not in settled]
        try:
            for question in waiting:
                self._ask(run, question, questions.index(question) + 1, len(questions))
                if self.pause and question is not waiting[-1]:
                    self._pause()
        except _Quit:
            return "quit"
        except EOFError:
            return "end"
        except KeyboardInterrupt:
            return "interrupt"
        return "done"

    def _pause(self) -> None:
        if self.read(self.say("go_on")).strip().lower() == "q":
            raise _Quit

    def _ask(self, run: Run, question: Question, place: int, total: int) -> None:
        options = shown_options(question, self.seed)
        try:
            # before the question is shown: nobody should answer what cannot be judged
            expected = output_of(question.code) if question.kind == "predict" else ""
        except CannotRun as problem:
            self.screen.question(question, options, place, total)
            self.screen.refuse("cannot_run", reason=problem)
            self.progress.keep(run, question.id, None, None, skipped=True)
            return
        self.screen.question(question, options, place, total)
        try:
            if question.kind in ("single", "multiple"):
                verdict = self._choice(question, options)
            elif question.kind == "order":
                verdict = self._order(question, options)
            elif question.kind == "numeric":
                verdict = self._number(question)
            elif question.kind == "bug":
                verdict = self._line(question)
            elif question.kind == "predict":
                verdict = self._output(question, expected)
            else:
                verdict = self._in_words(question)
        except _Skip:
            self.progress.keep(run, question.id, 0.0, None, skipped=True)
            self.screen.console.print(self.say("skipped"), style="yellow")
            return
        except _Ungraded as left:
            self.progress.keep(run, question.id, None, {"text": left.text})
            raise left.cause from None
        self.progress.keep(run, question.id, verdict.score, verdict.answer)
        self.screen.explanation(question)

    def _choice(self, question: Question, options: Sequence[Option]) -> Verdict:
        letters = signs_of(question)
        if question.kind == "single":
            chosen: Sequence[str] = self._one_line(
                question, lambda text: reading.read_one_letter(text, letters)
            )
        else:
            chosen = self._one_line(
                question, lambda text: reading.read_several_letters(text, letters)
            )
        verdict = judge_choice(question, [options[letters.index(each)].id for each in chosen])
        self.screen.verdict(verdict)
        self.screen.choices(question, options, verdict)
        return verdict

    def _order(self, question: Question, options: Sequence[Option]) -> Verdict:
        numbers = signs_of(question)
        order = self._one_line(question, lambda text: reading.read_order(text, numbers))
        items = [options[numbers.index(each)].id for each in order]
        verdict = judge_order(question, items)
        self.screen.verdict(verdict)
        self.screen.order(question, options, items)
        return verdict

    def _number(self, question: Question) -> Verdict:
        language = self.say.language
        value = self._one_line(question, lambda text: reading.read_number(text, language))
        verdict = judge_number(question, value)
        self.screen.verdict(verdict)
        self.screen.number(question)
        return verdict

    def _line(self, question: Question) -> Verdict:
        count = len(question.code.splitlines())
        line = self._one_line(question, lambda text: reading.read_line_number(text, count))
        verdict = judge_line(question, line)
        self.screen.verdict(verdict)
        self.screen.line(question, verdict)
        return verdict

    def _output(self, question: Question, expected: str) -> Verdict:
        verdict, rows = judge_output(expected, self._several_lines(question), self.say.language)
        self.screen.verdict(verdict)
        self.screen.printed(rows)
        return verdict

    def _in_words(self, question: Question) -> Verdict:
        text = self._several_lines(question)
        self.screen.rubric(question)
        mentioned = []
        try:
            for number, mention in enumerate(question.rubric, 1):
                self.screen.mention(number, self.say.of(mention))
                mentioned.append(self._yes())
        except (EOFError, KeyboardInterrupt, _Quit) as end:
            raise _Ungraded(text, end) from None
        verdict = judge_mentions(text, mentioned)
        self.screen.verdict(verdict)
        return verdict

    def _yes(self) -> bool:
        while True:
            line = reading.cleaned(self.read(self.say("mentions")))
            if line.strip().lower() == "q":
                raise _Quit
            try:
                return reading.read_yes(line, self.say.language)
            except reading.Unreadable as problem:
                self.screen.refuse(problem.key, **problem.details)

    def _one_line(self, question: Question, understood: Callable[[str], _T]) -> _T:
        """Asks until the line is an answer."""
        while True:
            try:
                return understood(self._typed(question))
            except reading.Unreadable as problem:
                self.screen.refuse(problem.key, **problem.details)

    def _several_lines(self, question: Question) -> str:
        """Everything up to an empty line, or to the end of the input."""
        lines = [self._typed(question)]
        try:
            while line := reading.cleaned(self.read("")).rstrip():
                lines.append(line)
        except EOFError:
            pass  # what was typed is an answer; the next question will find the end
        return "\n".join(lines)[: reading.LONGEST_ANSWER]

    def _typed(self, question: Question) -> str:
        """A line that is no command and not empty."""
        while True:
            line = reading.cleaned(self.read(self.say("prompt"))).rstrip()
            command = line.strip().lower()
            if command == "q":
                raise _Quit
            if command == "s":
                raise _Skip
            if command == "?":
                self.screen.help(question)
            elif command:
                return line
            else:
                self.screen.refuse("an_answer")
