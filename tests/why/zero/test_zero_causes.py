"""What is said about an op that lets nothing through is true of it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.why.asking import ask
from whygrad.ops.define import table
from whygrad.why.zero.causes import BlockedEdge, plain_name, verdict

# the loss, what is asked about, and what is said
SENTENCES = [
    ("(x * 0).sum()", "x", "mul multiplies 3 of 3 elements by 0"),
    ("(x * zeros).sum()", "x", "mul multiplies 3 of 3 elements by zeros, which is 0 there"),
    ("(zeros / x).sum()", "x", "the derivative of div is 0 for 3 of 3 elements: the numerator is"),
    ("x.prod() * 0", "x", "mul multiplies its only element by 0"),
    ("(x * mask).prod()", "x, index=1", "prod multiplies 2 of 3 elements by 0"),
    ("whygrad.addmm(m, a, a, beta=0).sum()", "m", "by beta, which is 0"),
    ("whygrad.addmm(a, m, a, alpha=0).sum()", "m", "by alpha, which is 0"),
    ("whygrad.addmm(a, m, a * 0).sum()", "m", "by its argument 'b', which is 0 there"),
    ("whygrad.lerp(x, mask, 1.0).sum()", "x", "the weight is 1 there"),
    ("whygrad.lerp(mask, x, 0.0).sum()", "x", "lerp multiplies 3 of 3 elements by 0"),
    ("(x ** 0).sum()", "x", "the exponent is 0, and x ** 0 is constant"),
    ("((x - x.detach()) ** 2).sum()", "x", "pow is 0 for 3 of 3 elements: the base is 0 there"),
    ("(x * mask).norm()", "x, index=0", "norm is 0 for 1 of 3 elements: its input is 0 there"),
    ("whygrad.linalg.norm(x, inf)", "x, index=0", "norm does not choose 2 of 3 elements"),
    ("F.prelu(x.exp(), w).sum()", "w", "the input of prelu is positive for 3 of 3 elements"),
    (
        "F.embedding(tensor([0]), m, padding_idx=0).sum()",
        "m, index=(0, 0)",
        "or they are its padding",
    ),
    (
        "F.embedding(tensor([0]), m).sum()",
        "m, index=(1, 0)",
        "embedding does not pick 2 of 4 elements",
    ),
    ("F.hardtanh(x * 100).sum()", "x", "at its limits, min −1 and max 1, where the derivative"),
    ("x.clamp(min=10.0).sum()", "x", "clamp holds 3 of 3 elements at its limits, min 10, where"),
    ("F.threshold(x, 10.0, 0.0).sum()", "x", "its input is not above the threshold there"),
    (
        "x.split([1, 2])[0].sum()",
        "x, index=2",
        "the loss does not use 2 of 3 elements of what split took",
    ),
    ("x.max()", "x, index=0", "max does not choose 2 of 3 elements"),
    ("x.median()", "x, index=0", "median does not choose 2 of 3 elements"),
    ("x[1:].sum()", "x, index=0", "slice does not pick 1 of 3 elements"),
    ("x[[1]].sum()", "x, index=0", "index does not pick 2 of 3 elements"),
    ("m.triu().sum()", "m, index=(1, 0)", "triu replaces 1 of 4 elements by 0"),
    ("whygrad.minimum(x, x - 1).sum() - (x - 1).sum()", "x", "contributions cancel"),
    ("x.var() * 0 + x.mean() * 0", "x", "mul multiplies its only element by 0"),
    ("F.dropout(x, 1.0).sum()", "x", "dropout masks 3 of 3 elements"),
    ("F.cross_entropy(m * 1000, tensor([1, 1]))", "m", "prediction and target are equal there"),
    ("x.nan_to_num().floor().sum()", "x", "floor is flat: its derivative is 0 everywhere"),
    ("whygrad.einsum('i,ij->j', x, a3 * 0).sum()", "x", "einsum multiplies 3 of 3 elements by"),
]
LINE = 7  # of the loss, below the variables
VARIABLES = """
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
m = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
w = tensor([0.25], requires_grad=True)
zeros, mask = tensor([0.0, 0.0, 0.0]), tensor([0.0, 1.0, 1.0])
a, a3 = tensor([[1.0, 2.0], [3.0, 4.0]]), whygrad.ones(3, 2)
"""


@pytest.mark.parametrize(("loss", "about", "sentence"), SENTENCES)
def test_sentence(loss: str, about: str, sentence: str) -> None:
    of, comma, index = about.partition(",")
    program = f"{VARIABLES}loss = {loss}\nanswer = why_zero({of}, loss{comma}{index})\n"
    answer = ask(program)["answer"]
    assert sentence in answer.headline
    assert answer.where.line == LINE


@pytest.mark.parametrize(
    ("torch_name", "name"),
    [
        ("ReluBackward0", "relu"),
        ("LogSoftmaxBackward0", "log_softmax"),
        ("MulBackward0", "mul"),
        ("NativeDropoutBackward0", "native_dropout"),
        ("max_of_all", "max_of_all"),
    ],
)
def test_names_of_ops(torch_name: str, name: str) -> None:
    assert plain_name(torch_name) == name


def test_the_table_serves_without_an_engine() -> None:
    known = BlockedEdge("ReluBackward0", "self", np.array([True, False]))
    assert verdict(known).cause == "inactive"
    unknown = BlockedEdge("SomethingBackward0", "self", np.array([True, True]))
    assert verdict(unknown) == (
        "zero derivative",
        "the derivative of SomethingBackward0 is 0 for 2 of 2 elements",
        None,
    )


def test_every_row_speaks_with_what_little_is_known() -> None:
    for op, argument in product(table, ("", "a", "b", "x", "self", "weight", "value")):
        found = verdict(BlockedEdge(op, argument, np.array([True, True, False])))
        assert found.cause
        assert "  " not in found.sentence
