"""Spectra of short stretches of a signal, and the signal back from them."""

from __future__ import annotations

from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.ops.inquiries import holds_somewhere
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, dtypes


def _refuse(name: str, input: Tensor, cause: str, fix: str) -> RuntimeError:
    return fail(RuntimeError, call=f"{name}({describe(input)})", cause=cause, fix=fix)


def _full_window(
    name: str, input: Tensor, n_fft: int, win_length: int, window: Tensor | None
) -> Tensor:
    """The window in the middle of ``n_fft`` points."""
    if not 0 < win_length <= n_fft:
        raise _refuse(
            name,
            input,
            f"expected 0 < win_length <= n_fft, but got win_length={win_length}",
            "a window is at most as long as the transform",
        )
    if window is None:
        real = input.real.dtype if input.dtype.is_complex else input.dtype
        window = input.new_ones(win_length, dtype=real)
    elif window.ndim != 1 or window.shape[0] != win_length:
        raise _refuse(
            name,
            input,
            f"expected a 1D window tensor of size equal to win_length={win_length}, but got "
            f"window with size {list(window.shape)}",
            "pass hann_window(win_length)",
        )
    left = (n_fft - win_length) // 2
    return table["pad"].public(window, (left, n_fft - win_length - left))


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The spectrum of every stretch of ``n_fft`` points, ``hop_length`` apart: (…, freq, time)."""
    hop = n_fft // 4 if hop_length is None else hop_length
    shape_window = _full_window("stft", input, n_fft, win_length or n_fft, window)
    wide = input.dtype.is_complex or shape_window.dtype.is_complex
    if return_complex is None and not wide:
        raise _refuse(
            "stft",
            input,
            "stft requires the return_complex parameter be given for real inputs",
            "pass return_complex=True, and view_as_real() of the result if you need it",
        )
    if input.ndim not in (1, 2) or input.dtype.category < dtypes.FLOAT:
        raise _refuse(
            "stft",
            input,
            f"expected a tensor of 1 or 2 dimensions of floating point or complex values, but got "
            f"{input.ndim}D {input.dtype.name}",
            "pass a signal, or a batch of them",
        )
    signal = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        pad = n_fft // 2
        padded = table["pad"].public(signal.unsqueeze(1), (pad, pad), pad_mode)
        signal = padded.squeeze(1)
    if not 0 < n_fft <= signal.shape[1] or hop <= 0:
        cause = f"expected hop_length > 0, but got hop_length={hop}"
        if hop > 0:
            cause = f"expected 0 < n_fft <= {signal.shape[1]}, but got n_fft={n_fft}"
        raise _refuse("stft", input, cause, "the stretches must fit into the signal")
    frames = signal.unfold(1, n_fft, hop) * shape_window
    half = not wide if onesided is None else onesided
    if half and wide:
        raise _refuse(
            "stft",
            input,
            "Cannot have onesided output if window or input is complex",
            "pass onesided=False",
        )
    norm = "ortho" if normalized else None
    transform = table["fft_rfft" if half else "fft_fft"].public
    spectrum = transform(frames, None, -1, norm).transpose(1, 2)
    spectrum = spectrum if input.ndim == 2 else spectrum.squeeze(0)
    whole = wide if return_complex is None else return_complex
    return spectrum if whole else table["view_as_real"].public(spectrum.contiguous())


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose short-time spectrum ``input`` is: what overlaps is averaged."""
    if not input.dtype.is_complex or input.ndim not in (2, 3):
        raise _refuse(
            "istft",
            input,
            "istft requires a complex-valued input tensor with 2 or 3 dimensions, matching the "
            "output from stft with return_complex=True.",
            "use view_as_complex() on pairs of real numbers",
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    shape_window = _full_window("istft", input, n_fft, win_length or n_fft, window)
    spectrum = (input if input.ndim == 3 else input.unsqueeze(0)).transpose(1, 2)
    half = spectrum.shape[-1] != n_fft if onesided is None else onesided
    if spectrum.shape[-1] != (n_fft // 2 + 1 if half else n_fft):
        raise _refuse(
            "istft",
            input,
            f"expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"n_fft={n_fft}, but got {spectrum.shape[-1]}",
            "pass the n_fft and onesided that stft was called with",
        )
    norm = "ortho" if normalized else None
    if return_complex and half:
        raise _refuse(
            "istft",
            input,
            "istft(): cannot have onesided output if window or input is complex",
            "pass the whole spectrum, stft(…, onesided=False)",
        )
    if return_complex:
        frames = table["fft_ifft"].public(spectrum, n_fft, -1, norm)
    else:  # of a real signal one half says everything, and the other is not looked at
        frames = table["fft_irfft"].public(spectrum[..., : n_fft // 2 + 1], n_fft, -1, norm)
    batch, count, _ = frames.shape
    size = n_fft + hop * (count - 1)
    signal = recorded.unfold_backward(frames * shape_window, (batch, size), 1, n_fft, hop)
    squares = (shape_window * shape_window).expand(1, count, n_fft)
    weight = recorded.unfold_backward(squares, (1, size), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else size - (n_fft // 2 if center else 0)
    signal, weight = (each[:, start : min(end, size)] for each in (signal, weight))
    if holds_somewhere(weight.detach().abs() < 1e-11):
        raise _refuse(
            "istft",
            input,
            "window overlap add min: 1: the windows do not cover the whole signal",
            "use a smaller hop_length, or center=True",
        )
    signal = signal / weight
    if end > size:
        signal = table["pad"].public(signal, (0, end - size))
    return signal if input.ndim == 3 else signal.squeeze(0)


def _parts(transform: Any, x: Any, *args: Any, **options: Any) -> Any:
    y = transform(x, *args, return_complex=True, **options)
    return y.real, y.imag


def _from_real(transform: Any, x: Any, *args: Any, **options: Any) -> Any:
    """For samples: a spectrum made of real numbers."""
    return transform(x * (1 + 0.5j), *args, **options)


composite(
    stft,
    "y[f, t] = Σ w[j]·x[t·hop + j]·e^(−2πijf/n)",
    samples=lambda make: [
        make.around(_parts, make(12), 4, window=make(4, low=0.2)),
        make.around(
            _parts, make(2, 10), 4, 2, 3, make(3, low=0.2), normalized=True, onesided=False
        ),
        make.around(_parts, make(9), 4, 3, center=False, window=make.constant(make(4))),
    ],
)
composite(
    istft,
    "x = the windows' average of the inverse transforms of y",
    samples=lambda make: [
        make.around(_from_real, make(3, 6), 4, window=make.constant(make(4, low=0.3))),
        make.around(
            _from_real, make(2, 3, 5), 4, 2, None, make(4, low=0.3), normalized=True, length=7
        ),
    ],
)
