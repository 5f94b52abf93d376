"""Formulas as Unicode: what a person expects to see, and nothing lost on the way."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.texts import texts_of
from whygrad.learn.content import decks, quizzes
from whygrad.learn.markup import parse
from whygrad.learn.mathtext import unicode_math

FORMULAS = {
    r"\frac{\partial L}{\partial a}": "∂L/∂a",
    r"\frac{1}{1+e^{-x}}": "1/(1+e⁻ˣ)",
    r"\frac12": "1/2",
    r"\left(\frac{a+b}{c}\right)^2": "((a+b)/c)²",
    r"\log\sigma(x)": "log σ(x)",
    r"\log(x)": "log(x)",
    r"\log x": "log x",
    r"\log_2 x": "log₂ x",
    r"\exp\left(x\right)": "exp(x)",
    r"\sum_{i=1}^{n} x_i^2": "Σᵢ₌₁ⁿ xᵢ²",
    r"\mathbb{R}^{n}": "ℝⁿ",
    r"\mathbb{R}^{n \times m}": "ℝ^(n × m)",
    r"W^\top x": "Wᵀx",
    r"A^T": "Aᵀ",
    r"10^{-3}": "10⁻³",
    r"x^\prime": "x′",
    r"\sqrt{x+1}": "√(x+1)",
    r"\sqrt x": "√x",
    r"1/\sqrt{10}": "1/√10",
    r"\sqrt{ab}": "√(ab)",
    r"\hat{y} - y": "ŷ - y",
    r"a\cdot b": "a · b",
    r"a \cdot b": "a · b",
    r"\varepsilon = 1": "ε = 1",
    r"\varepsilon + 1": "ε + 1",
    r"x_{ij}": "xᵢⱼ",
    r"x_{Q}": "x_Q",
    r"\text{loss} \to 0": "loss → 0",
    r"O(\epsilon^2)": "O(ε²)",
    r"50\%": "50%",
    r"\{1, 2\}": "{1, 2}",
    "": "",
    "x^": "x^",
    "a}b": "a}b",
    "}": "}",
    "{{a}": "a",
    "\\": "\\",
    r"\frac{a}": "a/",
    r"\nosuchthing x": r"\nosuchthing x",
}


@pytest.mark.parametrize(("source", "shown"), FORMULAS.items())
def test_formula(source: str, shown: str) -> None:
    assert unicode_math(source) == shown


@given(st.text(alphabet=r"\{}^_ abfrcsqt0159+-∂é'", max_size=60))
def test_anything_is_shown_and_no_letter_is_lost(source: str) -> None:
    shown = unicode_math(source)
    plain = re.sub(r"\\[A-Za-z]+|[\^_]|\\.", "", source)  # what is neither a sign nor shifted
    for digit in "59":
        raised = {"5": "⁵₅", "9": "⁹₉"}[digit]
        assert sum(map(shown.count, digit + raised)) >= plain.count(digit)


def test_a_formula_nested_without_end_stays_as_it_is() -> None:
    deep = "{" * 50_000
    assert unicode_math(deep) == deep


def test_every_formula_of_the_course_is_wholly_understood() -> None:
    """A command that is not known would stand in the terminal with its backslash."""
    items = [item for quiz in quizzes() for item in quiz.questions]
    items += [item for deck in decks() for item in deck.cards]
    words = [text for item in items for text in texts_of(item)]
    words += [text for quiz in quizzes() for text in (quiz.title, quiz.about)]
    formulas = {
        span.text
        for each in words
        for text in each.values()
        for block in parse(text)
        for span in block.spans
        if span.style == "math"
    }
    assert [each for each in sorted(formulas) if "\\" in unicode_math(each)] == []
