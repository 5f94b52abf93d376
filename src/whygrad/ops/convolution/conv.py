"""Convolution in one, two and three dimensions, as layers call it.

The functions check and normalise PyTorch's arguments; one op, the same for any number of
dimensions, does the work.  A single sample without a batch dimension gets one for the call.
"""

from __future__ import annotations

import operator
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.convolution.products import convolution, convolution_transpose
from whygrad.ops.convolution.windows import Dims, Pads, covered, exact_pads, spans
from whygrad.ops.define import composite
from whygrad.tensor import Tensor

__all__: list[str] = []

_LAYOUT = "weight has the shape (channels out, channels in / groups, *kernel)"
_TRANSPOSED_LAYOUT = "weight has the shape (channels in, channels out / groups, *kernel)"


class _Call:
    """The arguments of one call, checked in the order in which PyTorch checks them."""

    def __init__(
        self, dims: int, transposed: bool, input: Tensor, weight: Tensor, bias: Tensor | None
    ) -> None:
        self.name = f"conv_transpose{dims}d" if transposed else f"conv{dims}d"
        self.dims = dims
        self.transposed = transposed
        self.input = input
        self.weight = weight
        self.bias = bias
        if input.ndim not in (dims + 1, dims + 2):
            raise self.refused(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {self.name}, "
                f"but got input of size: {list(input.shape)}",
                f"pass (samples, channels, *{dims} sizes), or one sample without the first",
            )
        if weight.ndim != dims + 2:
            raise self.refused(
                f"Expected {dims + 2}-dimensional weight for {self.name}, but got weight of size "
                f"{list(weight.shape)}",
                _TRANSPOSED_LAYOUT if transposed else _LAYOUT,
            )

    def refused(self, cause: str, fix: str) -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"{self.name}(input: {describe(self.input)}, weight: {describe(self.weight)}, "
            f"bias: {describe(self.bias)})",
            cause=cause,
            fix=fix,
        )

    def numbers(self, value: Any, name: str, least: int) -> Dims:
        """One integer per dimension; a single one stands for all."""
        if not isinstance(value, (tuple, list)):
            value = (value,)
        found = tuple(map(operator.index, value))
        if len(found) == 1:
            found *= self.dims
        if len(found) != self.dims:
            raise self.refused(
                f"expected {name} to be a single integer value or a list of {self.dims} values to "
                f"match the convolution dimensions, but got {name}={list(found)}",
                f"pass {name} as one integer or as {self.dims}",
            )
        if min(found) < least:
            raise self.refused(
                {
                    "dilation": f"dilation should be greater than zero, but got {list(found)}",
                    "stride": "non-positive stride is not supported",
                }.get(name, f"negative {name} is not supported"),
                f"{name} starts at {least}",
            )
        return found

    def check_channels(self, groups: int) -> None:
        input, weight = self.input, self.weight
        if groups <= 0:
            raise self.refused("non-positive groups is not supported", "groups starts at 1")
        if weight.shape[0] < groups:
            raise self.refused(
                f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
                f"but got weight of size {list(weight.shape)} instead",
                "every group needs a channel of its own",
            )
        if weight.shape[0] % groups:
            raise self.refused(
                f"Given groups={groups}, expected weight to be divisible by {groups} at dimension "
                f"0, but got weight of size {list(weight.shape)} instead",
                "choose a number of channels that the groups can share evenly",
            )
        expected = weight.shape[0] if self.transposed else weight.shape[1] * groups
        channels = input.shape[-self.dims - 1]
        if channels != expected:
            given = "transposed=1" if self.transposed else f"groups={groups}"
            raise self.refused(
                f"Given {given}, weight of size {list(weight.shape)}, expected "
                f"input{list(input.shape)} to have {expected} channels, but got {channels} "
                "channels instead",
                f"channels are dimension {input.ndim - self.dims - 1} of the input; "
                + (_TRANSPOSED_LAYOUT if self.transposed else _LAYOUT),
            )
        outputs = weight.shape[1] * groups if self.transposed else weight.shape[0]
        if self.bias is not None and tuple(self.bias.shape) != (outputs,):
            given = "transposed=1, " if self.transposed else ""
            raise self.refused(
                f"Given {given}weight of size {list(weight.shape)}, expected bias to be "
                f"1-dimensional with {outputs} elements, but got bias of size "
                f"{list(self.bias.shape)} instead",
                "pass one number per output channel",
            )

    def check_dtypes(self) -> None:
        for name, other in (("weight", self.weight), ("bias", self.bias)):
            if other is not None and other.dtype is not self.input.dtype:
                raise self.refused(
                    f"Input type ({self.input.dtype.name}) and {name} type ({other.dtype.name}) "
                    "should be the same",
                    f"convert one of them: input.to({name}.dtype), or the layer with model.double()"
                    " or model.float()",
                )

    def check_sizes(self, dilation: Dims, pads: Pads) -> None:
        sizes, kernel = self.input.shape[-self.dims :], tuple(self.weight.shape[2:])
        if 0 in kernel:
            raise self.refused(
                f"kernel size should be greater than zero, but got {_times(kernel)}",
                "a kernel has at least one element in every dimension",
            )
        whole = tuple(size + sum(pair) for size, pair in zip(sizes, pads, strict=True))
        if any(size < span for size, span in zip(whole, spans(kernel, dilation), strict=True)):
            raise self.refused(
                f"Calculated padded input size per channel: ({_times(whole)}). Kernel size: "
                f"({_times(spans(kernel, dilation))}). Kernel size can't be greater than actual "
                "input size",
                "pad more, use a smaller kernel or dilation, or fewer layers that shrink the input",
            )
        self.check_not_empty(tuple(sizes))

    def check_not_empty(self, sizes: Dims) -> None:
        if 0 in sizes:
            raise self.refused(
                "Only zero batch or zero channel inputs are supported, but got input shape: "
                f"{list(self.input.shape)}",
                "skip samples without extent",
            )

    def run(self, op: Any, stride: Dims, pads: Pads, dilation: Dims, groups: int) -> Tensor:
        if self.input.ndim == self.dims + 2:
            return op(self.input, self.weight, self.bias, stride, pads, dilation, groups)
        alone = self.input.unsqueeze(0)
        return op(alone, self.weight, self.bias, stride, pads, dilation, groups).squeeze(0)


def _times(sizes: Dims) -> str:
    return " x ".join(map(str, sizes))


def _pads(call: _Call, padding: Any, stride: Dims, dilation: Dims) -> Pads:
    if not isinstance(padding, str):
        return tuple((each, each) for each in call.numbers(padding, "padding", 0))
    if padding == "valid":
        return ((0, 0),) * call.dims
    if padding != "same":
        raise call.refused(
            f"Invalid padding string: {padding!r}", "use 'same', 'valid', an integer or a tuple"
        )
    if any(step != 1 for step in stride):
        raise call.refused(
            "padding='same' is not supported for strided convolutions",
            "the output of a strided convolution is smaller: give the padding in numbers",
        )
    border = [span - 1 for span in spans(tuple(call.weight.shape[2:]), dilation)]
    return tuple((total // 2, total - total // 2) for total in border)


def _declare(dims: int, samples: Any) -> None:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        call = _Call(dims, False, input, weight, bias)
        steps = call.numbers(stride, "stride", 1)
        apart = call.numbers(dilation, "dilation", 1)
        pads = _pads(call, padding, steps, apart)
        call.check_channels(groups)
        call.check_sizes(apart, pads)
        call.check_dtypes()
        exact = exact_pads(input.shape, tuple(weight.shape[2:]), steps, pads, apart)
        return call.run(convolution, steps, exact, apart, groups)

    conv.__name__ = conv.__qualname__ = f"conv{dims}d"
    conv.__doc__ = f"""Each output is a kernel's weighted sum of a window of the input ({dims}D).

    ``input`` is (samples, channels, *sizes), ``weight`` (channels out, channels in / groups,
    *kernel).  ``padding`` is a number of zeros on either side, ``"valid"`` for none, or ``"same"``
    for an output as large as the input.
    """
    composite(
        conv,
        "y[n, o, p] = Σ x[n, c, p·stride + k·dilation − padding]·W[o, c, k] + b[o]",
        samples=samples,
        torch=f"nn.functional.conv{dims}d",
        autocast="lower",
    )


def _declare_transposed(dims: int, samples: Any) -> None:
    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        call = _Call(dims, True, input, weight, bias)
        steps = call.numbers(stride, "stride", 1)
        apart = call.numbers(dilation, "dilation", 1)
        borders = call.numbers(padding, "padding", 0)
        extra = call.numbers(output_padding, "output_padding", 0)
        call.check_channels(groups)
        call.check_dtypes()
        if any(more >= max(pair) for more, *pair in zip(extra, steps, apart, strict=True)):
            raise call.refused(
                "output padding must be smaller than either stride or dilation, but got "
                f"output_padding {extra}, stride {steps}, dilation {apart}",
                "output_padding chooses among the sizes that the stride makes ambiguous",
            )
        pads = tuple((each, each - more) for each, more in zip(borders, extra, strict=True))
        sizes = covered(input.shape, tuple(weight.shape[2:]), steps, pads, apart)
        call.check_not_empty(tuple(input.shape[-dims:]))
        if min(sizes) < 1:
            raise call.refused(
                f"Given input size per channel: ({_times(tuple(input.shape[-dims:]))}). Calculated "
                f"output size per channel: ({_times(sizes)}). Output size is too small",
                "padding crops the output: use less of it",
            )
        return call.run(convolution_transpose, steps, pads, apart, groups)

    conv_transpose.__name__ = conv_transpose.__qualname__ = f"conv_transpose{dims}d"
    conv_transpose.__doc__ = f"""Each input adds its multiple of the kernel to the output ({dims}D).

    The adjoint of ``conv{dims}d``: ``weight`` is (channels in, channels out / groups, *kernel),
    ``stride`` spreads the input, ``padding`` crops the output and ``output_padding`` extends it at
    the end.
    """
    composite(
        conv_transpose,
        "y[n, c, p·stride + k·dilation − padding] += x[n, o, p]·W[o, c, k], then + b[c]",
        samples=samples,
        torch=f"nn.functional.conv_transpose{dims}d",
        autocast="lower",
    )


_declare(
    1,
    lambda make: [
        make.call(make(2, 3, 5), make(4, 3, 3), make(4)),
        make.call(make(3, 5), make(4, 3, 3)),
        make.call(make(2, 2, 6), make(4, 1, 3), make(4), 2, 1, 1, 2),
        make.call(make(1, 2, 5), make(2, 2, 3), padding="same"),
        make.call(make(1, 2, 7), make(2, 2, 2), padding="same", dilation=2),
        make.call(make(1, 2, 5), make(2, 2, 3), stride=(3,), padding="valid"),
        make.call(make(0, 3, 5), make(4, 3, 3), make(4)),
    ],
)
_declare(
    2,
    lambda make: [
        make.call(make(2, 2, 4, 5), make(3, 2, 3, 2), make(3)),
        make.call(make(2, 4, 3), make(3, 2, 3, 2), make(3), padding=1),
        make.call(make(1, 2, 5, 6), make(2, 2, 2, 3), stride=2, padding=(1, 2)),
        make.call(make(1, 2, 5, 6), make(2, 2, 2, 3), stride=(1, 2), dilation=(2, 1)),
        make.call(make(1, 2, 6, 5), make(2, 2, 3, 2), stride=(3, 1), dilation=(1, 2)),
        make.call(make(2, 2, 3, 3), make(4, 1, 2, 2), make(4), groups=2),
        make.call(make(1, 4, 3, 3), make(4, 1, 3, 3), padding=1, groups=4),
        make.call(make(1, 2, 3, 4), make(2, 2, 1, 3), padding="same"),
        make.call(make(2, 3, 2, 2), make(2, 3, 1, 1), make(2)),
        make.call(make(1, 2, 3, 3), make(2, 2, 1, 1), stride=2),
        make.call(make(1, 1, 3, 3), make(2, 1, 1, 2), padding=2),
        make.call(make(0, 2, 3, 3), make(2, 2, 2, 2), make(2)),
        make.call(make(1, 1, 4, 4), make.constant(make(1, 1, 2, 2)), make(1)),
        make.call(make.constant(make(1, 1, 4, 4)), make(1, 1, 2, 2), padding=1),
    ],
)
_declare(
    3,
    lambda make: [
        make.call(make(1, 2, 3, 2, 3), make(2, 2, 2, 2, 2), make(2), padding=(1, 0, 1)),
        make.call(make(2, 3, 3, 3), make(2, 1, 2, 1, 2), stride=(1, 2, 1), groups=2),
    ],
)
_declare_transposed(
    1,
    lambda make: [
        make.call(make(2, 3, 4), make(3, 2, 3), make(2)),
        make.call(make(3, 4), make(3, 2, 3)),
        make.call(make(2, 4, 3), make(4, 1, 3), make(2), 2, 1, 1, 2),
        make.call(make(1, 2, 3), make(2, 2, 2), dilation=3, output_padding=2),
        make.call(make(0, 3, 4), make(3, 2, 3), make(2)),
    ],
)
_declare_transposed(
    2,
    lambda make: [
        make.call(make(2, 2, 3, 2), make(2, 3, 2, 3), make(3)),
        make.call(make(2, 3, 3), make(2, 3, 2, 2), make(3), stride=2),
        make.call(make(1, 2, 3, 2), make(2, 2, 3, 2), None, (2, 1), 1),
        make.call(make(1, 2, 3, 3), make(2, 2, 3, 3), None, 2, 1, 1),
        make.call(make(1, 2, 2, 3), make(2, 2, 2, 2), padding=1, dilation=(2, 1)),
        make.call(make(1, 4, 2, 2), make(4, 1, 2, 2), make(2), groups=2, stride=(1, 3)),
        make.call(make(2, 2, 2, 2), make(2, 2, 1, 1)),
    ],
)
_declare_transposed(
    3,
    lambda make: [
        make.call(make(1, 2, 2, 2, 2), make(2, 1, 2, 1, 2), make(1), stride=(1, 2, 1)),
        make.call(make(2, 2, 2, 2), make(2, 1, 2, 2, 2), make(1), padding=1),
    ],
)
