"""Transforms and constraints against PyTorch: there, back, stretch, shapes, sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.distributions.test_distributions import BOTH, assert_same, outcome

TRANSFORMS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "exp": (lambda t, lib: t.ExpTransform(), (3,)),
    "log": (lambda t, lib: t.ExpTransform().inv, (3,)),
    "power": (lambda t, lib: t.PowerTransform(lib.tensor(2.5)), (3,)),
    "falling power": (lambda t, lib: t.PowerTransform(lib.tensor([-1.0, 0.5, 2.0])), (2, 3)),
    "sigmoid": (lambda t, lib: t.SigmoidTransform(), (3,)),
    "softplus": (lambda t, lib: t.SoftplusTransform(), (3,)),
    "tanh": (lambda t, lib: t.TanhTransform(), (3,)),
    "abs": (lambda t, lib: t.AbsTransform(), (3,)),
    "affine": (lambda t, lib: t.AffineTransform(0.5, -2.0), (3,)),
    "affine, tensors": (
        lambda t, lib: t.AffineTransform(lib.tensor([0.5, 1.0]), lib.tensor([[-2.0], [3.0]])),
        (2, 2),
    ),
    "affine events": (lambda t, lib: t.AffineTransform(0.5, lib.tensor([1.0, 2.0]), 1), (3, 2)),
    "softmax": (lambda t, lib: t.SoftmaxTransform(), (2, 3)),
    "stick": (lambda t, lib: t.StickBreakingTransform(), (2, 3)),
    "lower": (lambda t, lib: t.LowerCholeskyTransform(), (2, 3, 3)),
    "definite": (lambda t, lib: t.PositiveDefiniteTransform(), (3, 3)),
    "correlation": (lambda t, lib: t.CorrCholeskyTransform(), (2, 6)),
    "compose": (
        lambda t, lib: t.ComposeTransform(
            [t.TanhTransform(), t.AffineTransform(2.0, 0.5), t.ExpTransform()]
        ),
        (3,),
    ),
    "compose events": (
        lambda t, lib: t.ComposeTransform([t.ExpTransform(), t.StickBreakingTransform()]), (2, 3),
    ),
    "identity": (lambda t, lib: t.identity_transform, (3,)),
    "independent": (lambda t, lib: t.IndependentTransform(t.ExpTransform(), 1), (2, 3)),
    "reshape": (lambda t, lib: t.ReshapeTransform((2, 3), (6,)), (4, 2, 3)),
    "stack": (lambda t, lib: t.StackTransform([t.ExpTransform(), t.TanhTransform()], 0), (2, 3)),
    "cat": (
        lambda t, lib: t.CatTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0)], 0, [1, 2]),
        (3,),
    ),
    "cdf": (
        lambda t, lib: t.CumulativeDistributionTransform(lib.distributions.Normal(0.5, 2.0)), (3,),
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    for library in BOTH.values():
        library.set_default_dtype(library.float64)
    yield
    for library in BOTH.values():
        library.set_default_dtype(library.float32)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str) -> None:
    make, shape = TRANSFORMS[name]
    start = np.random.default_rng(4).normal(size=shape) * 0.5
    if "power" in name or name == "log":
        start = np.abs(start) + 0.1
    answers = {}
    for label, library in BOTH.items():
        transform = make(library.distributions.transforms, library)
        x = library.tensor(start).requires_grad_()
        y = transform(x).detach().requires_grad_()
        answers[label] = {
            "there": outcome(lambda x=x, f=transform: f(x), [x], library),
            "back": outcome(lambda y=y, f=transform: f.inv(y), [y], library),
            "stretch": outcome(
                lambda x=x, f=transform: f.log_abs_det_jacobian(x, f(x)) + 0 * x.sum(), [x], library
            ),
            "shapes": tuple(transform.forward_shape(shape)),
            "shapes back": tuple(transform.inverse_shape(y.shape)),
            "bijective": transform.bijective,
            "dims": (transform.domain.event_dim, transform.codomain.event_dim),
            "inside": transform.codomain.check(y).numpy().tolist(),
        }
        assert transform == transform
        assert transform.inv.inv is transform
    for what, theirs in answers["torch"].items():
        if what in ("there", "back", "stretch"):
            assert_same(answers["whygrad"][what], theirs, f"{name}: {what}")
        else:
            assert answers["whygrad"][what] == theirs, f"{name}: {what}"


def test_a_cache_gives_the_number_itself_back() -> None:
    transform = whygrad.distributions.TanhTransform(cache_size=1)
    x = whygrad.tensor([40.0])  # tanh is 1 there, of which nobody can tell where it came from
    assert transform.inv(transform(x)) is x
    assert whygrad.distributions.TanhTransform().with_cache().inv(whygrad.ones(1)).item() > 100


def test_equality() -> None:
    for library in BOTH.values():
        t = library.distributions.transforms
        assert t.ExpTransform() == t.ExpTransform()
        assert t.ExpTransform() != t.TanhTransform()
        assert t.AffineTransform(0, 1) == t.AffineTransform(0, 1)
        assert t.AffineTransform(0, 1) != t.AffineTransform(0, 2)
        assert t.ExpTransform().inv == t.ExpTransform().inv
        assert t.ComposeTransform([t.ExpTransform()]) == t.ComposeTransform([t.ExpTransform()])


SETS = {
    "boolean": [0.0, 1.0, 0.5], "real": [0.0, np.inf, np.nan], "positive": [0.0, 1.0, -1.0],
    "nonnegative": [0.0, 1.0, -1.0], "nonnegative_integer": [0.0, 2.0, -1.0],
    "positive_integer": [0.0, 2.0, 1.5], "unit_interval": [0.0, 1.0, 1.1],
    "simplex": [[0.5, 0.5], [0.6, 0.5], [1.5, -0.5]], "one_hot": [[0, 1], [1, 1], [0.5, 0.5]],
    "real_vector": [[0.0, 1.0], [np.nan, 0.0]],
    "lower_triangular": [[[1.0, 0], [2, 3]], [[1, 2], [0, 3]]],
    "lower_cholesky": [[[1.0, 0], [2, 3]], [[1, 0], [2, -3]]],
    "corr_cholesky": [[[1.0, 0], [0.6, 0.8]], [[1.0, 0], [0.6, 0.9]]],
    "positive_definite": [[[2.0, 0.1], [0.1, 1]], [[1, 2], [2, 1]]],
    "positive_semidefinite": [[[1.0, 0], [0, 1]], [[1, 2], [2, 1]]],
    "symmetric": [[[2.0, 0.1], [0.1, 1]], [[1, 2], [0, 1]]], "square": [[[1.0, 2.0], [3.0, 4.0]]],
    "greater_than(1)": [0.5, 1.0, 2.0], "greater_than_eq(1)": [0.5, 1.0, 2.0],
    "less_than(1)": [0.5, 1.0, 2.0], "interval(0, 2)": [0.0, 2.0, 2.5],
    "half_open_interval(0, 2)": [0.0, 2.0, 1.5], "integer_interval(0, 2)": [0.0, 1.5, 2.0],
    "multinomial(3)": [[1.0, 2.0], [2.0, 2.0]],
}  # fmt: skip


def test_constraints() -> None:
    for name, values in SETS.items():
        checked = []
        for library in BOTH.values():
            constraint = eval(f"c.{name}", {"c": library.distributions.constraints})
            answer = constraint.check(library.tensor(values))
            checked.append((answer.tolist(), constraint.event_dim, constraint.is_discrete))
        assert checked[0] == checked[1], name


def test_from_constraints_to_transforms() -> None:
    names = (
        "real", "real_vector", "positive", "nonnegative", "unit_interval", "simplex",
        "greater_than(1.0)", "less_than(1.0)", "interval(-1.0, 2.0)", "corr_cholesky",
        "independent(c.positive, 1)", "stack([c.positive, c.real, c.unit_interval])",
    )  # fmt: skip
    values = np.random.default_rng(2).normal(size=(3, 3))
    for name in names:
        for registry in ("biject_to", "transform_to"):
            results = []
            for library in BOTH.values():
                constraint = eval(f"c.{name}", {"c": library.distributions.constraints})
                transform = getattr(library.distributions, registry)(constraint)
                y = transform(library.tensor(values))
                assert bool(constraint.check(y).all())
                results.append(y.numpy())
            np.testing.assert_allclose(*results, rtol=1e-9, err_msg=f"{registry}({name})")
    for library in BOTH.values():
        with pytest.raises(NotImplementedError):
            library.distributions.biject_to(library.distributions.constraints.boolean)
