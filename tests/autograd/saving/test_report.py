"""The bytes a graph holds: counted once, told apart, and at their peak."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import pytest

import whygrad as wg
import whygrad.nn.functional as F
from tests.autograd.tensors import leaf
from whygrad.autograd.graph import memory, saved_bytes_peak, saved_tensors_hooks
from whygrad.autograd.saving.report import GraphMemory, in_words


def rows(report: GraphMemory) -> set[tuple[str, str, str, int, int]]:
    return {(row.kind, row.op, row.name, row.bytes, row.count) for row in report.rows}


# --- what counts ------------------------------------------------------------------------------


def test_each_kind_of_value() -> None:
    x, weight = wg.randn(4, 3), wg.randn(3, 5).requires_grad_()
    y = (x @ weight).tanh()
    report = memory(y)
    assert rows(report) == {
        ("constants", "matmul", "a", 4 * 3 * 4, 1),
        ("activations", "tanh", "y", 4 * 5 * 4, 1),
    }
    assert (report.activations, report.parameters, report.constants) == (80, 0, 48)
    assert report.total == 128
    second = memory(y @ weight.mT)
    assert ("parameters", "matmul", "b", 60, 1) in rows(second), "a view of a leaf is the leaf"


def test_a_value_saved_twice_counts_once() -> None:
    x = leaf(1.0, 2.0, 3.0)
    h = x.exp()
    report = memory(h * h)
    assert rows(report) == {
        ("activations", "exp", "y", 24, 1),
        ("shared", "mul", "a", 24, 1),
        ("shared", "mul", "b", 24, 1),
    }
    assert report.total == report.activations == 24


def test_views_share_their_block() -> None:
    x = wg.ones(10, 10, dtype=wg.float64, requires_grad=True)
    h = x * 2
    y = h[0].sin().sum() + h.mT.cos().sum() + h.view(-1)[5:].exp().sum()
    report = memory(y)
    assert report.activations == 800 + 95 * 8, "one block of h, and the output of exp"
    first = next(row for row in report.rows if row.op == "sin")
    assert first.bytes == 800, "one row of h keeps all of h alive"


def test_a_constant_that_is_also_an_activation() -> None:
    x = leaf(1.0, 2.0)
    h = x * 2
    report = memory((h.detach() * x * h.sin()).sum())
    assert report.constants == 0


def test_expanded_values_hold_what_they_hold() -> None:
    x = wg.ones(1, 1000, requires_grad=True)
    h = x * 2
    report = memory(h.expand(500, 1000).sin())
    assert report.activations == 4000


def test_a_leaf_that_is_gone_is_held_by_the_graph() -> None:
    x = leaf(1.0, 2.0)
    y = x.sin()
    assert memory(y).parameters == 16
    del x
    assert (memory(y).parameters, memory(y).activations) == (0, 16)


def test_sparse_and_meta_values() -> None:
    dense = wg.eye(3, dtype=wg.float64)
    factor = dense.to_sparse().requires_grad_()
    other = wg.ones(3, 2, dtype=wg.float64, requires_grad=True)
    report = memory(wg.sparse.mm(factor, other * 2))
    assert report.activations == 48
    assert report.parameters >= 3 * 8 + 2 * 3 * 8, "values and coordinates of the leaf"
    assert report.constants == 0
    x = wg.ones(10**6, 10**6, device="meta", requires_grad=True)
    assert memory(x.exp()).activations == 4 * 10**12


def test_forward_mode_tangents_are_held_too() -> None:
    from whygrad.autograd import forward_ad

    x = leaf(1.0, 2.0)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x * 1, wg.ones(2, dtype=wg.float64))
        names = {row.name for row in memory(dual.exp()).rows}
    assert "tangents" in names


def test_after_backward_the_values_are_freed() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp().sin().sum()
    y.backward()
    report = memory(y)
    assert report.total == 0
    assert {(row.kind, row.op) for row in report.rows} == {("freed", "exp"), ("freed", "sin")}


def test_a_retained_graph_still_holds() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp().sum()
    y.backward(retain_graph=True)
    assert memory(y).total == 16


def test_packed_values() -> None:
    x, store = leaf(1.0, 2.0), {}

    def put(t: wg.Tensor) -> str:
        store["y"] = t.detach().numpy().copy()
        return "y"

    with saved_tensors_hooks(put, lambda key: wg.from_numpy(store[key])):
        y = x.exp()
    assert (memory(y).total, memory(y).elsewhere) == (0, 16)
    for pack in (lambda t: ("here", t.clone()), lambda t: {"here": t.detach().numpy().copy()}):
        with saved_tensors_hooks(pack, lambda packed: packed):
            y = x.exp()
        assert (memory(y).total, memory(y).elsewhere) == (16, 0), "what a hook returned is held"


def test_several_roots() -> None:
    x = leaf(1.0, 2.0)
    h = x.exp()
    a, b = h.sin(), h.cos()
    assert memory(a, b).total == memory(a).total == 16
    assert memory(a, b).nodes == 3
    assert memory(a.grad_fn).total == 16


# --- the report -------------------------------------------------------------------------------


def network() -> Any:
    x, target = wg.randn(64, 20), wg.randint(0, 3, (64,))
    first, second = wg.randn(50, 20).requires_grad_(), wg.randn(3, 50).requires_grad_()
    hidden = F.linear(x, first).tanh()
    for _ in range(3):
        hidden = hidden * hidden.exp()
    return F.cross_entropy(F.linear(hidden, second), target)


def test_groups_add_up() -> None:
    report = memory(network())
    assert sum(report.by_op.values()) == sum(report.by_line.values()) == report.total
    assert list(report.by_op.values()) == sorted(report.by_op.values(), reverse=True)
    assert any("hidden = hidden * hidden.exp()" in line for line in report.by_line)
    loop = next(row for row in report.rows if row.op == "exp")
    assert (loop.count, loop.bytes) == (3, 3 * 64 * 50 * 4), "one row for all rounds of a loop"
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["total"] == report.total
    assert len(plain["rows"]) == len(report.rows)


def test_the_table_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    report = memory(network())
    for columns in (60, 80, 100, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = str(report).splitlines()
        assert max(map(len, lines)) <= min(columns, 100)
    assert lines[0].startswith(f"{report.nodes} nodes hold ")
    assert lines[2].split() == ["bytes", "what", "saved", "by", "at"]
    assert "38.4 kB  activations  exp: y ×3 " in str(report)


def test_many_rows_are_cut_short() -> None:
    x = wg.ones(1000, requires_grad=True)
    scope: dict[str, Any] = {"x": x, "total": x.sum()}
    source = "\n".join(["total = total + x.exp().sum()"] * 30)
    exec(compile(source, "many.py", "exec"), scope)
    text = str(memory(scope["total"]))
    assert text.splitlines()[-1].split("  ")[0].strip() == "24.0 kB"
    assert text.splitlines()[-1].endswith("6 more rows")


def test_html() -> None:
    report = memory(network())
    page = report._repr_html_()
    assert page.count("<tr>") == len(report.rows) + 1
    assert "hidden * hidden.exp()" in page


def test_nothing_to_report() -> None:
    assert str(memory(wg.ones(3))) == "0 nodes hold 0 B"
    assert str(memory(leaf(1.0))) == "0 nodes hold 0 B"
    with pytest.raises(TypeError, match="a graph hangs from a tensor or a node, not from a list"):
        memory([wg.ones(3)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (9_999, "9,999 B"),
        (12_345, "12.3 kB"),
        (999_999, "1.00 MB"),
        (10**13, "10.0 TB"),
    ],
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert in_words(size) == words


def test_a_long_chain() -> None:
    y = x = leaf(1.0)
    for _ in range(200_000):
        y = y.sin()
    report = memory(y)
    assert report.nodes == 200_000
    assert report.activations == 8 * 199_999
    assert report.parameters == x.nbytes
    assert len(report.rows) == 2


def test_the_report_keeps_nothing_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        y = x.exp()
        report = memory(y)
        watched = [weakref.ref(y.grad_fn), weakref.ref(y._array), weakref.ref(x)]
        del x, y
        assert [ref() for ref in watched] == [None] * 3
        assert report.total == 16
    finally:
        gc.enable()


# --- the peak ---------------------------------------------------------------------------------


def layers(depth: int, width: int = 100) -> Any:
    h = wg.ones(width, dtype=wg.float64)
    weight = wg.ones(width, dtype=wg.float64, requires_grad=True)
    for _ in range(depth):
        h = (h * weight).tanh()
    return h.sum()


@pytest.mark.parametrize("depth", [1, 10, 50])
def test_the_peak_grows_with_depth(depth: int) -> None:
    with saved_bytes_peak() as saved:
        loss = layers(depth)
        assert saved.current == saved.peak == (depth + 1) * 800
        loss.backward()
        assert saved.current == 0
    assert saved.peak == (depth + 1) * 800


def test_the_peak_is_not_the_sum() -> None:
    with saved_bytes_peak() as saved:
        for _ in range(5):
            layers(10).backward()
    assert saved.peak == 11 * 800
    assert repr(saved) == "<saved for backward: 0 bytes now, 8,800 at most>"


def test_peaks_nest() -> None:
    with saved_bytes_peak() as outer:
        first = layers(2)
        with saved_bytes_peak() as inner:
            second = layers(3)
        assert (outer.current, inner.current) == (7 * 800, 4 * 800)
        del first, second
        assert (outer.current, inner.current) == (0, 0)
    layers(10)
    assert outer.peak == 7 * 800, "what is saved outside does not count"


def test_packed_away_is_not_held() -> None:
    x = wg.ones(100, dtype=wg.float64, requires_grad=True)
    store: list[Any] = []

    def pack(t: wg.Tensor) -> int:
        store.append(t.detach().numpy().copy())
        return len(store) - 1

    for outer_first in (True, False):
        saved, hooks = (
            saved_bytes_peak(),
            saved_tensors_hooks(pack, lambda i: wg.from_numpy(store[i])),
        )
        contexts = (saved, hooks) if outer_first else (hooks, saved)
        with contexts[0] as one, contexts[1] as two:
            count = one or two
            y = x.exp().sin().cos().sum()
        assert count.current == 0
        y.backward()


def test_counting_keeps_nothing_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        with saved_bytes_peak() as saved:
            h = wg.ones(100, requires_grad=True).exp()
            y = h.sum()
        watched = [weakref.ref(saved), weakref.ref(h), weakref.ref(y.grad_fn)]
        del saved
        assert watched[0]() is None
        del h, y
        assert [ref() for ref in watched] == [None] * 3
    finally:
        gc.enable()
