"""What TensorBoard keeps of each kind of value, as its protocol buffers."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import (
    HistogramProto,
    Summary,
    SummaryMetadata,
)
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from whygrad.errors import fail
from whygrad.utils.tensorboard.numbers import as_array, png

__all__ = ["audio", "histogram", "image", "precision_recall", "raw_histogram", "scalar", "text"]

Array = Any
_LEAST = 1e-7  # in place of 0 where a count divides


def _value(tag: str, **content: Any) -> Any:
    return Summary(value=[Summary.Value(tag=tag, **content)])


def _plugin(name: str, content: bytes = b"") -> Any:
    return SummaryMetadata(
        plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content)
    )


def _shape(*sizes: int) -> Any:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def scalar(tag: str, value: Any, *, as_tensor: bool, double: bool) -> Any:
    """One number of a curve."""
    numbers = as_array(value)
    if numbers.size != 1:
        raise fail(
            AssertionError,
            call=f"add_scalar({tag!r}, …)",
            cause=f"a scalar is one number, but this has {numbers.size}",
            fix="reduce it first, for example with .mean()",
        )
    number = float(numbers.squeeze())
    if not as_tensor:
        return _value(tag, simple_value=number)
    if double:
        content = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    else:
        content = TensorProto(float_val=[number], dtype="DT_FLOAT")
    return _value(tag, tensor=content, metadata=_plugin("scalars"))


def text(tag: str, words: str) -> Any:
    """A text, which may be Markdown."""
    metadata = _plugin("text", TextPluginData(version=0).SerializeToString())
    content = TensorProto(dtype="DT_STRING", string_val=[words.encode()], tensor_shape=_shape(1))
    return _value(f"{tag}/text_summary", tensor=content, metadata=metadata)


def image(tag: str, pixels: Array, rescale: float = 1) -> Any:
    """A picture of (rows, columns, channels)."""
    height, width, channels = pixels.shape
    content = Summary.Image(
        height=int(height * rescale),
        width=int(width * rescale),
        colorspace=channels,
        encoded_image_string=png(pixels, rescale),
    )
    return _value(tag, image=content)


def audio(tag: str, samples: Any, rate: int) -> Any:
    """One channel of sound, from −1 to 1."""
    heard = as_array(samples).squeeze()
    if heard.ndim != 1:
        raise fail(
            AssertionError,
            call=f"add_audio({tag!r}, …)",
            cause=f"input tensor should be 1 dimensional, but it has shape {heard.shape}",
            fix="pass one channel: snd[0]",
        )
    levels = (heard.clip(-1, 1) * np.iinfo(np.int16).max).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(levels.tobytes())
    content = Summary.Audio(
        sample_rate=rate,
        num_channels=1,
        length_frames=len(levels),
        encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )
    return _value(tag, audio=content)


def _geometric_limits() -> list[float]:
    """The borders TensorFlow has always used: each a tenth farther from 0 than the last."""
    borders = []
    border = 1e-12
    while border < 1e20:
        borders.append(border)
        border *= 1.1
    return [*(-each for each in reversed(borders)), 0.0, *borders]


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None) -> Any:
    """How many values lie between which borders."""
    numbers = as_array(values).reshape(-1)
    if not numbers.size:
        raise fail(
            ValueError,
            call=f"add_histogram({tag!r}, …)",
            cause="the input has no element",
            fix="pass at least one number",
        )
    borders = _geometric_limits() if bins == "tensorflow" else bins
    numbers = numbers.astype(np.float64)
    counts, limits = np.histogram(numbers, bins=borders)
    if max_bins is not None and len(counts) > max_bins:
        counts, limits = _coarser(counts, limits, max_bins)
    filled = np.flatnonzero(counts)
    if not filled.size:
        raise fail(
            ValueError,
            call=f"add_histogram({tag!r}, …)",
            cause="the histogram is empty: no number lies between the borders",
            fix="look for NaN and infinity in the input",
        )
    # A bucket is named by its upper border, so an empty one in front says where the first begins.
    first, last = int(filled[0]), int(filled[-1]) + 1
    shown = counts[first - 1 : last] if first else np.concatenate([[0], counts[:last]])
    return _histogram(
        tag,
        float(numbers.min()), float(numbers.max()), len(numbers), float(numbers.sum()),
        float(numbers.dot(numbers)), limits[first : last + 1].tolist(), shown.tolist(),
    )  # fmt: skip


def _coarser(counts: Array, limits: Array, most: int) -> tuple[Array, Array]:
    step = len(counts) // most
    missing = -len(counts) % step
    counts = np.pad(counts, (0, missing)).reshape(-1, step).sum(-1)
    kept = limits[:-1:step]
    return counts, np.append(kept, limits[-1])


def raw_histogram(tag: str, *numbers: Any) -> Any:
    """A histogram that somebody else counted."""
    return _histogram(tag, *numbers)


def _histogram(
    tag: str, low: float, high: float, count: int, total: float, squares: float, limits: Any,
    buckets: Any,
) -> Any:  # fmt: skip
    content = HistogramProto(
        min=low,
        max=high,
        num=count,
        sum=total,
        sum_squares=squares,
        bucket_limit=limits,
        bucket=buckets,
    )
    return _value(tag, histo=content)


def precision_recall(
    tag: str, labels: Any, predictions: Any, thresholds: int, weights: Any = None
) -> Any:
    """Precision and recall at thresholds between 0 and 1."""
    truth = as_array(labels).reshape(-1).astype(bool)
    guess = as_array(predictions).reshape(-1)
    weight = np.ones(len(truth)) if weights is None else as_array(weights).reshape(-1)
    place = np.clip(np.floor(guess * (thresholds - 1)).astype(int), 0, thresholds - 1)
    positives = np.bincount(place, weight * truth, thresholds)
    negatives = np.bincount(place, weight * ~truth, thresholds)
    above_true, above_false = positives[::-1].cumsum()[::-1], negatives[::-1].cumsum()[::-1]
    missed, rejected = above_true[0] - above_true, above_false[0] - above_false
    table = np.stack(
        [
            above_true,
            above_false,
            rejected,
            missed,
            above_true / np.maximum(_LEAST, above_true + above_false),
            above_true / np.maximum(_LEAST, above_true + missed),
        ]
    )
    return raw_precision_recall(tag, table)


def raw_precision_recall(tag: str, table: Array) -> Any:
    """Six rows: true and false positives, true and false negatives, precision, recall."""
    thresholds = table.shape[1]
    data = PrCurvePluginData(version=0, num_thresholds=thresholds).SerializeToString()
    content = TensorProto(
        dtype="DT_FLOAT", float_val=table.reshape(-1).tolist(), tensor_shape=_shape(6, thresholds)
    )
    return _value(tag, tensor=content, metadata=_plugin("pr_curves", data))
