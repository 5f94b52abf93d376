"""``whygrad quiz`` as a learner meets it: questions, answers, and what is said about them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.learn.quiz.learner import EVERYTHING_RIGHT, RIGHT, log, one, quiz


def test_everything_right() -> None:
    output = quiz("99", answers=EVERYTHING_RIGHT)
    assert output.count("✓ Right.") == 10
    assert "Your score: 10 of 10 (100%)" in output
    assert output.endswith("Everything right.\nNext, build it yourself: whygrad lab start value\n")
    assert "To repeat" not in output
    assert re.search(r"accumulation +100% +2\n", output)


def test_the_list_knows_the_best_score() -> None:
    assert re.search(r"99 +Fixture <quiz> & more +10 +– +new", quiz())
    quiz("99", answers=EVERYTHING_RIGHT)
    assert re.search(r"10 +100% +all right", quiz())
    listed = quiz("--lang", "es")
    assert re.search(r"n\.º +título +preguntas +mejor", listed)
    assert re.search(r"Cuestionario de «prueba» & más +10 +100 % +todo bien", listed)


@pytest.mark.parametrize("number", ["99", "phase-99-fixture", "PHASE-99-fixture"])
def test_names_of_a_quiz(number: str) -> None:
    assert "1 of 10" in quiz(number)


def test_unknown_names_get_a_hint() -> None:
    assert "There is no quiz 42; there are: 99." in quiz("42", code=2)
    assert "No hay ningún cuestionario 42; los que hay: 99." in quiz("42", "--lang", "es", code=2)
    assert "q-99-03" in one_refused("q-99-3")
    assert "There is no question nonsense" in one_refused("nonsense")


def one_refused(name: str) -> str:
    return quiz("--question", name, code=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("99", "--export", "x.html", "--json", "-"),
        ("99", "--wrong", "--results"),
        ("--wrong",),
        ("--seed", "3"),
        ("99", "--export", "x.pdf"),
        ("99", "--export", "x.html", "--shuffle"),
        ("99", "--results", "--restart"),
        ("--question", "q-99-01", "--wrong"),
    ],
)
def test_what_does_not_go_together(arguments: tuple[str, ...]) -> None:
    assert "Usage" in quiz(*arguments, code=2)
    spanish = quiz(*arguments, "--lang", "es", code=2)
    assert "Uso: " in spanish
    assert "para ver la ayuda" in spanish
    for word in ("Usage", "Try", "exclude", "name a", "ask", "has to"):
        assert word not in spanish


def test_a_wrong_choice_is_explained() -> None:
    output = one("q-99-01", "a\n")
    assert "✗ Not right." in output
    assert "a) ✗ Speed has nothing to do with it." in output
    assert "b) The contributions of all paths add up" in output.partition("The answer:")[2]
    assert "A node that is used twice receives two gradients & adds them." in output
    assert re.search(r"Look at: docs/engine\.md +\n +whygrad ops add", output)
    assert "∂L/∂a" in output
    assert "whygrad quiz 99 --wrong" in output


def test_missed_options_are_named() -> None:
    output = one("q-99-02", "A, B\n")
    assert "c) ○ belongs to the answer. 4 = 2·2." in output
    assert "b) ✗ 3 leaves a remainder." in output
    assert "The answer: a c" in output
    assert "◐ Partly right: 50%." in one("q-99-02", "a\n")


@pytest.mark.parametrize("answer", ["-12", "-12.0", "−12", "-24/2", "-1.2e1", "-12.009"])
def test_numbers(answer: str) -> None:
    output = one("q-99-03", f"{answer}\n")
    assert "✓ Right." in output
    assert "The answer: -12 (± 0.01 also counts)" in output


def test_a_comma_is_decimal_in_spanish() -> None:
    assert "✓ Correcto." in one("q-99-03", "-12,00\n", "--lang", "es")
    output = one("q-99-03", "-12,0\n-12\n")
    assert "Write the decimals with a point" in output
    assert "✓ Right." in output


def test_an_order() -> None:
    shown = one("q-99-04", "q\n")
    numbers = {
        text: re.search(rf"([1-4])\) {re.escape(text)}", shown)[1]
        for text in ("zero_grad()", "forward pass", "backward()", "step()")
    }
    assert "✓ Right." in one("q-99-04", " ".join(numbers.values()) + "\n")
    wrong = one("q-99-04", " ".join(reversed(numbers.values())) + "\n")
    assert "✗ Not right." in wrong
    assert "The first one out of place is the one you put in position 1." in wrong
    assert f"The right order: {' '.join(numbers.values())}\n" in wrong
    first, second = list(numbers.values())[:2]
    assert re.search(rf"{first}\) zero_grad\(\)\s+{second}\) forward pass", wrong)
    assert "Type each of 1 2 3 4 exactly once" in one("q-99-04", "a b c\n")


def test_free_text_is_graded_by_its_author(learner: Path) -> None:
    output = one("q-99-05", "A graph\nof operations\n\ny\nwhat\nn\ny\nn\n")
    assert "An answer could be:" in output
    assert "Type y or n." in output
    assert "◐ Partly right: 50%." in output
    answer = log(learner)[-1]
    assert answer["answer"] == {
        "text": "A graph\nof operations",
        "mentions": [True, False, True, False],
    }


def test_free_text_survives_an_end_before_its_grading(learner: Path) -> None:
    output = quiz("99", "--question", "q-99-05", answers="My thought")
    assert "The input ended here. Your answers are kept." in output
    assert (log(learner)[-1]["answer"], log(learner)[-1]["score"]) == ({"text": "My thought"}, None)


def test_q_ends_the_grading_as_well_and_s_is_no_yes(learner: Path) -> None:
    output = quiz("99", "--question", "q-99-05", answers="My thought\n\ns\ny\nq\n")
    assert output.count("Type y or n.") == 1
    assert "The input ended here" not in output
    assert "Your answers are kept." in output
    assert (log(learner)[-1]["answer"], log(learner)[-1]["score"]) == ({"text": "My thought"}, None)


def test_output_is_predicted_against_a_real_run() -> None:
    assert "✓ Right." in one("q-99-06", "y < 12.0 >\n2.3333333\n\n")
    output = one("q-99-06", "y<12>\n2.33\n9\n\n")
    assert "◐ Partly right: 33%." in output
    assert re.search(r"✗ printed 2\.333333333333333\d\s+you     2\.33", output)
    assert re.search(r"✗ printed \(nothing\)\s+you     9", output)


def test_a_decimal_comma_in_a_prediction() -> None:
    assert "✓ Correcto." in one("q-99-06", "y < 12,0 >\n2,3333333\n\n", "--lang", "es")
    output = one("q-99-06", "y < 12,0 >\n2.3333333\n\n")
    assert "◐ Partly right: 50%." in output
    assert "Write the decimals with a point" in output


def test_only_some_of_many_to_repeat_are_shown_and_no_word_is_cut() -> None:
    output = quiz("99", answers="s\n" * 10)
    listed = output.partition("To repeat")[2]
    assert re.findall(r"^q-99-\d\d", listed, re.M) == [f"q-99-0{n}" for n in range(1, 6)]
    assert "… and 5 more." in listed
    assert listed.index("… and 5 more.") < listed.index("Your score: 0 of 10 (0%)")
    assert "Ask only these again: whygrad quiz 99 --wrong" in listed
    assert "whygrad quiz 99 --wrong" in quiz("--results")


def test_a_program_that_cannot_run_here_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    from whygrad.learn.quiz import asking
    from whygrad.learn.quiz.running import CannotRun

    def nowhere(program: str) -> str:
        raise CannotRun("No module named 'torch'")

    monkeypatch.setattr(asking, "output_of", nowhere)
    able = "".join(text for name, text in RIGHT.items() if name not in ("q-99-06", "q-99-09"))
    output = quiz("99", answers=able)
    assert output.count("This program cannot be run here") == 2
    assert "Your score: 8 of 8 (100%)" in output


def test_a_bug_is_found_by_its_line() -> None:
    output = one("q-99-07", "line 1\n")
    assert "Starting at 0.0 is right." in output
    assert "The bug is in line 3." in output
    assert "-    total = part" in output
    assert "+    total += part" in output
    assert "@@" not in output
    assert "Line 4 does what it should." in one("q-99-07", "4\n")
    assert "Type a line number from 1 to 4" in one("q-99-07", "77\n3\n")


def test_help_skip_and_empty_lines() -> None:
    output = one("q-99-01", "?\n\ns\n")
    assert "s skips the question" in output
    assert "Nothing was typed." in output
    assert "Skipped." in output
    assert "Your score: 0 of 1 (0%)" in output


def test_quit_goes_on_later(learner: Path) -> None:
    first = quiz("99", answers="b\na\nq\n")
    assert "Your answers are kept." in first
    assert "8 of 10 questions are still open. To go on: whygrad quiz 99" in first
    assert re.search(r"10 +– +8 open", quiz())
    rest = "".join(RIGHT[name] for name in list(RIGHT)[2:])
    second = quiz("99", answers=rest)
    assert "You stopped after 2 of 10 questions" in second
    assert "3 of 10 · q-99-03" in second
    assert "1 of 10" not in second
    assert "Your score: 9.5 of 10 (95%)" in second
    assert "Best so far: 95%." in second


def test_restart() -> None:
    quiz("99", answers="b\nq\n")
    assert "1 of 10" in quiz("99", "--restart", answers="q\n")


def test_wrong_asks_only_what_was_missed() -> None:
    assert "any question of quiz 99 yet. Start with: whygrad quiz 99" in quiz("99", "--wrong")
    quiz("99", answers="b\nq\n")
    assert "You have missed no question of quiz 99" in quiz("99", "--wrong")
    quiz(
        "99",
        "--restart",
        answers=EVERYTHING_RIGHT.replace("b\n", "c\n", 1).replace("-12\n", "s\n", 1),
    )
    output = quiz("99", "--wrong", answers="b\nq\n")
    assert "1 of 2 · q-99-01" in output
    assert "2 of 2 · q-99-03" in output
    assert "1 of 1 · q-99-03" in quiz("99", "--wrong", answers="-12\n")
    assert "Nothing to repeat in quiz 99" in quiz("99", "--wrong")
    assert re.search(r"10 +80% +all right", quiz())


def test_options_are_shuffled_by_seed() -> None:
    def shown(*options: str) -> list[str]:
        return re.findall(r"^  [a-d]\) (\w+)", one("q-99-02", "q\n", *options), re.M)

    assert shown() == ["two", "three", "four", "five"]
    assert shown("--seed", "3") == shown("--seed", "3")
    assert len({tuple(shown("--seed", str(seed))) for seed in range(8)}) > 2
    mixed = shown("--seed", "3")
    letters = [letter for letter, text in zip("abcd", mixed) if text in ("two", "four")]
    output = one("q-99-02", " ".join(letters) + "\n", "--seed", "3")
    assert "✓ Right." in output
    assert shown("--shuffle")


@pytest.mark.parametrize("answers", ["", "\n", "?", "b", b"\xff\xfe\x00b\n", "\x1b[2J\n" * 3])
def test_any_input_ends_kindly(answers: str | bytes) -> None:
    output = quiz("99", answers=answers)
    assert "The input ended here. Your answers are kept." in output
    assert "\x1b" not in output


def test_hostile_text_is_neither_shown_nor_lost(learner: Path) -> None:
    text = "\x1b]0;title\x07 [bold]no[/bold] " + "x" * 100_000
    output = one("q-99-06", f"{text}\n\n")
    assert "\x1b" not in output
    assert "\x07" not in output
    assert "[bold]no[/bold]" in output
    assert len(str(log(learner)[-1]["answer"])) <= 20_000


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_narrow_terminal_cuts_nothing_off(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "36")
    listed = quiz("--lang", language)
    assert "…" not in listed
    assert max(map(len, listed.splitlines())) <= 36


@pytest.mark.parametrize("language", ["en", "es"])
def test_nothing_is_wider_than_the_terminal(language: str) -> None:
    wrong = "?\nc\nb d\n7\n1 2 3 4\nwords\n\nn\nn\nn\nn\nno\nno\nno\n\n2\n9\nx\n\nc\n"
    output = quiz("99", "--lang", language, answers=wrong) + quiz("--lang", language)
    output += quiz("--results", "--lang", language)
    assert "To repeat" in output or "Para repasar" in output
    assert max(map(len, output.splitlines())) <= 80
    assert "{" not in output


@pytest.fixture
def an_english_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WHYGRAD_LANG")
    monkeypatch.setenv("LC_ALL", "en_GB.UTF-8")


@pytest.mark.usefixtures("an_english_system")
def test_a_command_that_is_shown_speaks_the_language_of_its_reader() -> None:
    shown = quiz("99", "--lang", "es", answers="a\nq\n")
    assert "Para seguir: whygrad quiz 99 --lang es" in shown
    shown = one("q-99-06", "1\n\n", "--lang", "es")
    assert "whygrad quiz 99 --wrong --lang es" in shown
    assert "Mira: whygrad lab start value --lang es" in shown
    assert "whygrad quiz 99 --lang es" in quiz("--lang", "es")
    assert "whygrad quiz 99 --restart --lang es" in " ".join(quiz("99").split())
    assert "--lang" not in one("q-99-06", "1\n\n") + quiz()


def test_no_command_names_a_language_that_is_spoken_anyway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WHYGRAD_LANG", "es")
    assert "--lang" not in quiz("99", "--lang", "es", answers="a\nq\n") + quiz()
    assert "whygrad quiz 99 --lang en" in quiz("--lang", "en")


@pytest.mark.usefixtures("an_english_system")
def test_a_quiz_goes_on_in_the_language_it_was_begun_in() -> None:
    quiz("99", "--lang", "es", answers="b\nq\n")
    assert "2 de 10" in quiz("99", answers="q\n")
    assert "2 of 10" in quiz("99", "--lang", "en", answers="q\n")
    assert "1 of 10" in quiz("99", "--restart", answers="q\n")
