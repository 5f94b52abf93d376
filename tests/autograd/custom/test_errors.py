"""What is said when a custom function is written or used wrongly.

Each text names the function, the argument, the line of ``apply`` and the line of the method.
"""

from __future__ import annotations

from typing import Any

import pytest

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.autograd import Function, forward_ad


def function(forward: Any, backward: Any = None, **more: Any) -> Any:
    methods = {"forward": staticmethod(forward), **more}
    if backward is not None:
        methods["backward"] = staticmethod(backward)
    return type("Scale", (Function,), methods)


def doubled(ctx: Any, x: Any, factor: Any = 2.0) -> Any:
    return x * 2


BACKWARD = {
    "too many": (
        lambda ctx, g: (g, None, g),
        r"returned an incorrect number of gradients \(expected 2, got 3\): forward takes "
        r"\(x, factor\)",
    ),
    "too few": (
        lambda ctx, g: g,
        r"returned an incorrect number of gradients \(expected 2, got 1\)",
    ),
    "wrong shape": (
        lambda ctx, g: (g[:2], None),
        r"returned an invalid gradient at index 0 - got \[2\] but expected shape compatible with "
        r"\[3\], the shape of 'x'",
    ),
    "still to broadcast": (
        lambda ctx, g: (g.sum(), None),
        r"got \[\] but expected shape compatible with \[3\], the shape of 'x'",
    ),
    "wrong dtype": (
        lambda ctx, g: (g.float(), None),
        r"got float32 but expected type float64, the dtype of 'x'",
    ),
    "wrong device": (
        lambda ctx, g: (g.to("meta"), None),
        r"expected device cpu but got meta, and 'x' is on cpu",
    ),
    "a number": (
        lambda ctx, g: (1.0, None),
        r"expected Variable or None \(got float\) as gradient of 'x'",
    ),
    "a list": (
        lambda ctx, g: ([g], None),
        r"expected Variable or None \(got list\) as gradient of 'x'\n"
        r"  fix:   return a tensor; several gradients are returned as a tuple, not as a list",
    ),
    "for a number": (
        lambda ctx, g: (g, g),
        r"returned a gradient different than None at position 2, but the corresponding forward "
        r"input 'factor' was not a Variable",
    ),
}


@pytest.mark.parametrize("case", BACKWARD)
def test_wrong_gradients(case: str) -> None:
    backward, text = BACKWARD[case]
    x = leaf(1.0, 2.0, 3.0)
    y = function(doubled, backward).apply(x, 2.0)
    with pytest.raises(RuntimeError, match=text) as raised:
        y.sum().backward()
    said = str(raised.value)
    assert said.startswith("ScaleBackward, recorded at tests/autograd/custom/test_errors.py:")
    assert "function(doubled, backward).apply(x, 2.0)" in said
    assert "lambda ctx, g:" in said.splitlines()[-1]
    assert x.grad is None


@pytest.mark.parametrize("case", BACKWARD)
def test_wrong_gradients_of_samples(case: str) -> None:
    backward, text = BACKWARD[case]
    x = wg.ones(4, 3, dtype=wg.float64, requires_grad=True)
    over_samples = function(doubled, backward, generate_vmap_rule=True)
    y = wg.func.vmap(over_samples.apply, in_dims=(0, None))(x, 2.0)
    with pytest.raises(RuntimeError, match=text):
        y.sum().backward()


def test_allowed_answers() -> None:
    """As in PyTorch: None at the end, broadcasting left to the engine, None for anything."""
    x = leaf(1.0, 2.0, 3.0)
    for backward, expected in (
        (lambda ctx, g: (g, None, None), [1.0, 1.0, 1.0]),
        (lambda ctx, g: g.expand(4, 3), [4.0, 4.0, 4.0]),
    ):
        (slope,) = wg.autograd.grad(function(lambda ctx, x: x * 2, backward).apply(x).sum(), x)
        assert slope.tolist() == expected
    nothing = function(lambda ctx, x: x * 2, lambda ctx, g: None).apply(x)
    assert wg.autograd.grad(nothing.sum(), x, allow_unused=True) == (None,)
    constant = wg.ones(5)
    given = function(lambda ctx, x, y: x * 2, lambda ctx, g: (g, wg.ones(7))).apply(x, constant)
    assert wg.autograd.grad(given.sum(), x)[0].tolist() == [1.0, 1.0, 1.0]


def test_arguments_without_a_name_of_their_own() -> None:
    many = function(lambda ctx, *parts, **more: parts[0] * 1, lambda ctx, g: (g, g[:1], None))
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"the shape of 'parts\[1\]'"):
        many.apply(x, leaf(1.0, 2.0), width=3).sum().backward()


def test_missing_methods() -> None:
    x = leaf(1.0)
    empty = type("Empty", (Function,), {})
    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        empty.apply(x)
    with pytest.raises(NotImplementedError, match="implement either the backward or vjp method"):
        function(doubled).apply(x).sum().backward()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, wg.ones_like(x))
        with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
            function(doubled).apply(dual)
    both = function(doubled, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g))
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        both.apply(x).sum().backward()


def test_legacy_use() -> None:
    scale = function(doubled)
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = scale()
    with pytest.raises(RuntimeError, match="Legacy autograd function") as raised:
        instance(leaf(1.0))
    assert "call Scale.apply(…)" in str(raised.value)


def test_forward_returns_a_list() -> None:
    """PyTorch hands it through, and the tensors in it have lost their gradient."""
    for wrong in (lambda ctx, x: [x * 2], lambda ctx, x: {"y": x * 2}):
        with pytest.raises(RuntimeError, match="only a tensor or a tuple of tensors takes part"):
            function(wrong).apply(leaf(1.0))
    assert function(lambda ctx, x: [1, 2]).apply(leaf(1.0)) == [1, 2]
    with wg.no_grad():
        assert len(function(lambda ctx, x: [x * 2]).apply(leaf(1.0))) == 1


@pytest.mark.parametrize("method", ["save_for_backward", "save_for_forward"])
def test_only_tensors_are_saved(method: str) -> None:
    def forward(ctx, x):
        getattr(ctx, method)(x, 3)
        return x * 2

    with pytest.raises(TypeError, match="can only save variables, but argument 1 is of type int"):
        function(forward).apply(leaf(1.0))


def test_marks_are_for_tensors() -> None:
    for method in ("mark_dirty", "mark_non_differentiable"):
        with pytest.raises(TypeError, match=rf"{method} .* but argument 0 is of type int"):
            function(lambda ctx, x, method=method: getattr(ctx, method)(3)).apply(leaf(1.0))


def test_only_arguments_are_dirty() -> None:
    with pytest.raises(RuntimeError, match="only an argument can be modified in place"):
        function(lambda ctx, x: ctx.mark_dirty(x * 1)).apply(leaf(1.0))


def test_dirty_arguments_are_returned() -> None:
    with pytest.raises(RuntimeError, match="were not returned as output: float64"):
        function(lambda ctx, x: ctx.mark_dirty(x) or x * 2).apply(leaf(1.0) * 1)


def test_a_leaf_is_refused_before_it_is_written_to() -> None:
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = leaf(1.0)
    with pytest.raises(RuntimeError, match=r"(?s)Scale\.forward on .* a leaf Variable that requ"):
        function(forward).apply(x)
    assert x.tolist() == [1.0]


VIEWS = {"as it is": lambda ctx, x: x, "view": lambda ctx, x: x.view(-1)}


@pytest.mark.parametrize("forward", VIEWS.values(), ids=VIEWS)
def test_views_are_not_written_to(forward: Any) -> None:
    double = function(forward, lambda ctx, g: 2 * g)
    x = leaf(1.0, 2.0)
    y = double.apply(x * 1)
    with pytest.raises(RuntimeError, match="it was created inside a custom Function") as raised:
        y.mul_(3)
    assert "clone() the output of Scale before writing to it" in str(raised.value)
    assert y.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("forward", VIEWS.values(), ids=VIEWS)
def test_views_of_overwritten_memory_are_not_differentiated(forward: Any) -> None:
    double = function(forward, lambda ctx, g: 2 * g)
    x = leaf(1.0, 2.0)
    h = x * 1
    y = double.apply(h)
    before = (y * 5).sum()
    h.mul_(3)
    with pytest.raises(RuntimeError, match="has been modified inplace: by mul_ at") as raised:
        wg.autograd.grad(y.sum(), x)
    assert "a view made by Scale at" in str(raised.value)
    assert wg.autograd.grad(before, x)[0].tolist() == [10.0, 10.0]


JVP = {
    "too many": (lambda ctx, t: (t, t), r"invalid number of forward gradients \(expected 1 but"),
    "wrong shape": (lambda ctx, t: t.sum(), r"output 0 is of size \[2\] while the given forward"),
    "wrong dtype": (lambda ctx, t: t.float(), "tangent of output 0 is float32, but the output is"),
    "a number": (lambda ctx, t: 1.0, r"expected Variable or None \(got float\) for grad output 0"),
}


@pytest.mark.parametrize("case", JVP)
def test_wrong_tangents(case: str) -> None:
    jvp, text = JVP[case]
    x = leaf(1.0, 2.0)
    pushing = function(lambda ctx, x: x * 2, jvp=staticmethod(jvp))
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, wg.ones_like(x))
        with pytest.raises(RuntimeError, match=text) as raised:
            pushing.apply(dual)
    assert str(raised.value).startswith("Scale.jvp, for Scale.apply at ")


def test_tangents_for_outputs_without_a_derivative() -> None:
    def forward(ctx, x):
        marked = x * 2
        ctx.mark_non_differentiable(marked)
        return x * 1, marked, "text"

    pushing = function(forward, jvp=staticmethod(lambda ctx, t: (t, t, None)))
    x = leaf(1.0)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, wg.ones_like(x))
        with pytest.raises(RuntimeError, match="is not a differentiable Tensor"):
            pushing.apply(dual)
    handed = function(lambda ctx, x: (x * 1, "text"), jvp=staticmethod(lambda ctx, t: (t, t)))
    with forward_ad.dual_level():
        assert handed.apply(forward_ad.make_dual(x, wg.ones_like(x)))[1] == "text"


def test_vmap_needs_a_rule() -> None:
    x = wg.ones(3)
    with pytest.raises(RuntimeError, match="You tried to vmap over Scale, but it does not have"):
        wg.func.vmap(function(doubled).apply)(x)
    rule = staticmethod(lambda info, in_dims, x: (x, 0))
    both = function(doubled, generate_vmap_rule=True, vmap=rule)
    with pytest.raises(RuntimeError, match="both generate_vmap_rule=True and an overridden vmap"):
        wg.func.vmap(both.apply)(x)


RULES = {
    "no out_dims": (lambda info, in_dims, x: x, "Expected the vmap staticmethod to have two retur"),
    "three": (lambda info, in_dims, x: (x, 0, 0), "Got 3 returns instead"),
    "other structure": (
        lambda info, in_dims, x: (x, (0, 0)),
        r"out_dims has structure \(\*, \*\) but output has structure \*",
    ),
}


@pytest.mark.parametrize("case", RULES)
def test_wrong_vmap_rules(case: str) -> None:
    rule, text = RULES[case]
    with pytest.raises(RuntimeError, match=text):
        wg.func.vmap(function(doubled, vmap=staticmethod(rule)).apply)(wg.ones(3))
