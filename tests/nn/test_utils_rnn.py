"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from typing import Any

import pytest

from tests.nn.programs import Program, agree, numbers, programs
from whygrad import tensor, zeros
from whygrad.nn.utils.rnn import pad_sequence


def padded(library: Any) -> Any:
    rnn = library.nn.utils.rnn
    sequences = [numbers(library, length, 2, seed=length) for length in (3, 1, 4)]
    return [
        rnn.pad_sequence(sequences),
        rnn.pad_sequence(sequences, batch_first=True, padding_value=-1.5),
        rnn.pad_sequence(sequences, padding_side="left"),
        rnn.pad_sequence([library.tensor([1, 2]), library.tensor([3])], True, 7),
    ]


def there_and_back(library: Any) -> Any:
    rnn = library.nn.utils.rnn
    lengths = library.tensor([2, 5, 1])
    sequences = [numbers(library, int(length), 3, seed=int(length)) for length in lengths]
    across = rnn.unpad_sequence(rnn.pad_sequence(sequences), lengths)
    down = rnn.unpad_sequence(rnn.pad_sequence(sequences, batch_first=True), lengths, True)
    return [*across, *down]


def gradients(library: Any) -> Any:
    sequences = [numbers(library, n, seed=n).requires_grad_() for n in (2, 3)]
    (library.nn.utils.rnn.pad_sequence(sequences) ** 2).sum().backward()
    return [each.grad for each in sequences]


@programs(padded, there_and_back, gradients)
def test_as_pytorch(program: Program) -> None:
    agree(program)


@pytest.mark.parametrize(
    ("sequences", "side", "cause"),
    [
        ([], "right", "received an empty list of sequences"),
        ([tensor(1.0)], "right", "a sequence has at least one dimension"),
        ([zeros(2, 3), zeros(1, 2)], "right", r"must match except.*they are \[2, 3\], \[1, 2\]"),
        ([zeros(2)], "middle", "padding_side should be either 'right' or 'left'"),
    ],
)
def test_refusals(sequences: list[Any], side: str, cause: str) -> None:
    with pytest.raises(RuntimeError, match=rf"cause: .*{cause}[^\0]*fix:   pass a list"):
        pad_sequence(sequences, padding_side=side)
