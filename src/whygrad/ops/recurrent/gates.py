"""One step of an LSTM and of a GRU, after the products with the weights.

A step would be a dozen ops; here it is one, with what its gates were as a further result, so that
backward need not compute them again.  Gates lie side by side in the last dimension, in PyTorch's
order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.batching import leading_dims
from whygrad.ops.define import define
from whygrad.ops.namespace import raw
from whygrad.ops.products.products import add_terms

Array = Any


def _split(xp: Any, gates: Array, count: int) -> list[Array]:
    """The gates one by one, as views."""
    size = gates.shape[-1] // count
    return [xp.slice(gates, (..., slice(i * size, (i + 1) * size))) for i in range(count)]


def _join(xp: Any, gates: list[Array]) -> Array:
    return xp.cat(gates, gates[0].ndim - 1)


def _lstm(x_gates: Array, h_gates: Array, c: Array) -> tuple[Array, Array, Array]:
    size = c.shape[-1]
    gates = x_gates + h_gates
    active = raw.sigmoid(gates)
    np.tanh(gates[..., 2 * size : 3 * size], out=active[..., 2 * size : 3 * size])
    i, f, g, o = _split(raw, active, 4)
    cell = f * c
    cell += i * g
    h = np.tanh(cell)
    h *= o
    return h, cell, active


def _lstm_slopes(xp: Any, active: Array) -> Array:
    """The derivative of each gate, from its value."""
    i, f, g, o = _split(xp, active, 4)
    return _join(xp, [i * (1 - i), f * (1 - f), 1 - g * g, o * (1 - o)])


def _lstm_rule(
    xp: Any, incoming: Any, c: Array, cell: Array, active: Array
) -> tuple[Array, Array, Array]:
    of_h, of_cell, of_active = incoming
    of_h, of_cell = (0.0 if each is None else each for each in (of_h, of_cell))
    i, f, g, o = _split(xp, active, 4)
    squashed = xp.tanh(cell)
    of_cell = of_cell + of_h * o * (1 - squashed * squashed)
    of_gates = _join(
        xp,
        [
            of_cell * g * i * (1 - i),
            of_cell * c * f * (1 - f),
            of_cell * i * (1 - g * g),
            of_h * squashed * o * (1 - o),
        ],
    )
    if of_active is not None:
        of_gates = of_gates + of_active * _lstm_slopes(xp, active)
    # Two views of one array: nobody owns it, so nobody adds to it in place.
    return xp.slice(of_gates, (...,)), xp.slice(of_gates, (...,)), of_cell * f


def _lstm_jvp(
    xp: Any, tangents: Any, c: Array, cell: Array, active: Array
) -> tuple[Array, Array, Array | None]:
    d_x_gates, d_h_gates, d_c = tangents
    d_gates = add_terms(d_x_gates, d_h_gates)
    i, f, g, o = _split(xp, active, 4)
    squashed = xp.tanh(cell)
    d_active = None if d_gates is None else d_gates * _lstm_slopes(xp, active)
    d_i, d_f, d_g, d_o = (0.0,) * 4 if d_active is None else _split(xp, d_active, 4)
    d_cell = d_f * c + d_i * g + i * d_g + f * (0.0 if d_c is None else d_c)
    return d_o * squashed + o * (1 - squashed * squashed) * d_cell, d_cell, d_active


define(
    "lstm_step(x_gates, h_gates, c)",
    "i, f, o = σ(x_gates + h_gates), g = tanh(…), cell = f·c + i·g, h = o·tanh(cell);  "
    "∂cell = incoming + ∂h·o·(1 − tanh²cell),  ∂gates = (∂cell·g, ∂cell·c, ∂cell·i, ∂h·tanh cell)"
    "·slopes,  ∂c = ∂cell·f",
    forward=_lstm,
    vjp=_lstm_rule,
    jvp=_lstm_jvp,
    outputs=("h", "cell", "active"),
    meta=lambda x_gates, h_gates, c: [(c.shape, c.dtype)] * 2 + [(x_gates.shape, c.dtype)],
    batching=leading_dims,
    internal=True,
    samples=lambda make: [
        make.call(make(3, 8), make(3, 8), make(3, 2)),
        make.call(make(4), make(4), make(1)),
        make.call(make(2, 8), make.constant(make(2, 8)), make.constant(make(2, 2))),
        make.call(make.constant(make(2, 8)), make(2, 8), make.constant(make(2, 2))),
        make.call(make.constant(make(2, 8)), make.constant(make(2, 8)), make(2, 2)),
        make.call(make(0, 8), make(0, 8), make(0, 2)),
    ],
)


def _gru(x_gates: Array, h_gates: Array, h: Array) -> tuple[Array, Array]:
    size = h.shape[-1]
    active = x_gates + h_gates
    both = active[..., : 2 * size]
    both[...] = raw.sigmoid(both)
    r, z, n = _split(raw, active, 3)
    np.multiply(r, h_gates[..., 2 * size :], out=n)
    n += x_gates[..., 2 * size :]
    np.tanh(n, out=n)
    y = h - n
    y *= z
    y += n
    return y, active


def _gru_rule(
    xp: Any, incoming: Any, h_gates: Array, h: Array, active: Array
) -> tuple[Array, Array, Array]:
    of_y, of_active = (0.0 if each is None else each for each in incoming)
    r, z, n = _split(xp, active, 3)
    of_r, of_z, of_n = (0.0,) * 3 if incoming[1] is None else _split(xp, of_active, 3)
    of_n = (of_n + of_y * (1 - z)) * (1 - n * n)
    of_z = (of_z + of_y * (h - n)) * z * (1 - z)
    of_r = (of_r + of_n * _split(xp, h_gates, 3)[2]) * r * (1 - r)
    return _join(xp, [of_r, of_z, of_n]), _join(xp, [of_r, of_z, of_n * r]), of_y * z


def _gru_jvp(
    xp: Any, tangents: Any, h_gates: Array, h: Array, active: Array
) -> tuple[Array, Array]:
    d_x_gates, d_h_gates, d_h = tangents
    r, z, n = _split(xp, active, 3)
    nothing = (0.0,) * 3
    d_xr, d_xz, d_xn = nothing if d_x_gates is None else _split(xp, d_x_gates, 3)
    d_hr, d_hz, d_hn = nothing if d_h_gates is None else _split(xp, d_h_gates, 3)
    d_r = (d_xr + d_hr) * (r * (1 - r))
    d_z = (d_xz + d_hz) * (z * (1 - z))
    d_n = (d_xn + r * d_hn + d_r * _split(xp, h_gates, 3)[2]) * (1 - n * n)
    d_y = (1 - z) * d_n + d_z * (h - n) + z * (0.0 if d_h is None else d_h)
    return d_y, _join(xp, [d_r, d_z, d_n])


define(
    "gru_step(x_gates, h_gates, h)",
    "r, z = σ(x_gates + h_gates), n = tanh(x_gates + r·h_gates), y = (1 − z)·n + z·h;  "
    "∂n = incoming·(1 − z)·(1 − n²),  ∂z = incoming·(h − n)·z·(1 − z),  ∂r = ∂n·h_gates·r·(1 − r)",
    forward=_gru,
    vjp=_gru_rule,
    jvp=_gru_jvp,
    outputs=("y", "active"),
    meta=lambda x_gates, h_gates, h: [(h.shape, h.dtype), (x_gates.shape, h.dtype)],
    batching=leading_dims,
    internal=True,
    samples=lambda make: [
        make.call(make(3, 6), make(3, 6), make(3, 2)),
        make.call(make(3), make(3), make(1)),
        make.call(make(2, 6), make.constant(make(2, 6)), make.constant(make(2, 2))),
        make.call(make.constant(make(2, 6)), make(2, 6), make.constant(make(2, 2))),
        make.call(make.constant(make(2, 6)), make.constant(make(2, 6)), make(2, 2)),
        make.call(make(0, 6), make(0, 6), make(0, 2)),
    ],
)
