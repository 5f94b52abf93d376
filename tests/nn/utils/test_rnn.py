"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from typing import Any

import pytest

from tests.nn.programs import Program, agree, numbers, programs
from whygrad import tensor, zeros
from whygrad.nn.utils.rnn import pack_padded_sequence, pad_sequence


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


def packed(library: Any) -> Any:
    rnn = library.nn.utils.rnn
    sequences = [numbers(library, length, 2, seed=length) for length in (3, 1, 4)]
    unsorted = rnn.pack_sequence(sequences, enforce_sorted=False)
    table = rnn.pad_sequence(sequences, batch_first=True)
    given = rnn.pack_padded_sequence(table, library.tensor([4, 4, 2]), batch_first=True)
    return [
        *unsorted,
        given.data,
        given.batch_sizes,
        unsorted.double().data,
        *rnn.unpack_sequence(unsorted),
        *rnn.pad_packed_sequence(given, padding_value=2.0, total_length=6),
        *rnn.pad_packed_sequence(unsorted, batch_first=True),
    ]


def packed_networks(library: Any) -> Any:
    found = []
    rnn = library.nn.utils.rnn
    for kind in ("RNN", "GRU", "LSTM"):
        for batch_first in (False, True):
            model = getattr(library.nn, kind)(
                2, 3, num_layers=2, bidirectional=True, batch_first=batch_first
            ).double()
            with library.no_grad():
                for place, each in enumerate(model.parameters()):
                    each.copy_(numbers(library, *each.shape, seed=place))
            x = numbers(library, 3, 4, 2).requires_grad_()
            lengths = library.tensor([2, 3, 1] if batch_first else [3, 3, 2, 1])
            entry = rnn.pack_padded_sequence(
                x, lengths, batch_first, enforce_sorted=not batch_first
            )
            first = numbers(library, 4, len(lengths), 3).requires_grad_()
            output, last = model(entry, (first, first) if kind == "LSTM" else first)
            last = last if kind == "LSTM" else (last,)
            (output.data.square().sum() + sum((each**3).sum() for each in last)).backward()
            found += [output.data, *last, x.grad, first.grad]
            found += [each.grad for each in model.parameters()]
            model.zero_grad()
            found.append(model(entry)[0].data)
    return found


@programs(padded, there_and_back, gradients, packed, packed_networks)
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


@pytest.mark.parametrize(
    ("lengths", "cause"),
    [
        ([1], "Expected `len\\(lengths\\)` to be equal to batch_size"),
        ([1, 2], "must be sorted in decreasing order"),
        ([2, 0], "has to be greater than 0"),
        ([4, 1], "Expected no length above 3"),
    ],
)
def test_packing_refuses(lengths: list[int], cause: str) -> None:
    with pytest.raises(RuntimeError, match=rf"cause: .*{cause}[^\0]*fix:   one length"):
        pack_padded_sequence(zeros(3, 2, 1), tensor(lengths))
