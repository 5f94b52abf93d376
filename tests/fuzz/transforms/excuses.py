"""Differences that are meant, each with its reason."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.transforms.program import Program
from whygrad.autograd.recompute.reports import CheckpointError

__all__ = ["LOOP_REFUSES", "ONLY_WHYGRAD"]

Excuse = Callable[[Program, Exception], bool]


def checkpoint_overwritten(program: Program, error: Exception) -> bool:
    """A checkpoint refuses to run again on memory that was written since; PyTorch's program has
    none, because torch.func does not take them."""
    return isinstance(error, CheckpointError) and "inplace operation" in str(error)


def written_dual(program: Program, error: Exception) -> bool:
    """A recorded write to a dual tensor while its primal is in use: one memory, two histories."""
    return "make_dual() or unpack_dual() has made another tensor" in str(error)


def saved_and_overwritten(program: Program, error: Exception) -> bool:
    """What is written over after it was saved is computed again by a checkpoint; the loop runs
    without checkpoints and refuses, as PyTorch does."""
    return "again(" in str(program) and "modified by an inplace operation" in str(error)


def read_only_input(program: Program, error: Exception) -> bool:
    """The input of a function that is differentiated is the caller's memory, with a history there:
    whygrad does not let it be written to, not even behind the back of the graph."""
    return "its memory is read-only" in str(error)


def other_strides(program: Program, error: Exception) -> bool:
    """Scans and reductions of a batch that is not the first dimension lie in the order of their
    input, in PyTorch in that of their dimensions; sort and index_put the other way round.  What
    needs an order in memory says so."""
    phrases = ("view size is not compatible", "must have a last dimension with stride 1")
    return any(phrase in str(error) for phrase in phrases)


def written_through_data(program: Program, error: Exception) -> bool:
    """whygrad sees a write through ``.data`` to what backward needs; PyTorch does not, and has no
    ``.data`` inside ``vmap``."""
    return ".data." in str(program) and "modified by an inplace operation" in str(error)


def overwritten_tangent(program: Program, error: Exception) -> bool:
    """PyTorch copies a tangent that lies in memory in another order than its primal, and does not
    mind if the original is written to."""
    return "func.jvp" in str(program) and "modified by an inplace operation" in str(error)


def one_version(program: Program, error: Exception) -> bool:
    """The loop's samples are views of one batch, so a write to the second counts as a write to what
    the first saved."""
    return "func.vmap" in str(program) and "modified by an inplace operation" in str(error)


def nested_jvp_of_solve(program: Program) -> bool:
    """PyTorch's second derivative of ``solve`` by forward mode twice is half of what its reverse
    mode and finite differences give; that mode refuses some of the programs."""
    return "solve'" in str(program) and str(program).count("func.j") > 1


def gradient_of_what_samples_share(program: Program, error: Exception) -> bool:
    """A gradient taken inside ``vmap`` is one per sample, even of what all samples share, and
    cannot be written into something they share."""
    taken = any(word in str(program) for word in ("func.grad", "func.vjp", "func.jacrev"))
    return taken and "inplace arithmetic is not possible" in str(error)


def as_strided_of_samples(program: Program, error: Exception) -> bool:
    """What lies around a sample in memory belongs to other samples; PyTorch lets it be asked for as
    far as the sample itself reaches."""
    return "vmap does not support as_strided" in str(error)


def dynamic_shape(program: Program, error: Exception) -> bool:
    """How many elements an op gives depends on the numbers; PyTorch asks only if the sample has
    dimensions."""
    return "output dynamic shape" in str(error)


ONLY_WHYGRAD: tuple[Excuse, ...] = (
    checkpoint_overwritten,
    written_dual,
    read_only_input,
    other_strides,
    dynamic_shape,
    written_through_data,
    overwritten_tangent,
    gradient_of_what_samples_share,
    as_strided_of_samples,
)
LOOP_REFUSES: tuple[Excuse, ...] = (saved_and_overwritten, written_through_data, one_version)
