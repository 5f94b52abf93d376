"""Every distribution against PyTorch on the same numbers: values, gradients, shapes, words."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.distributions.cases import CASES, Case

BOTH = {"whygrad": whygrad, "torch": torch}
# PyTorch says so of every sample of a Wishart distribution
pytestmark = pytest.mark.filterwarnings("ignore:Singular sample detected")
EVERY = pytest.mark.parametrize("name", CASES)
MOMENTS = ("mean", "mode", "variance", "stddev")

KINDS = (NotImplementedError, ValueError, RuntimeError, AttributeError)

WRONG_IN_PYTORCH = {
    ("Kumaraswamy", "mode"),  # the logarithm of a negative number: always nan
    ("Multinomial", "expanded entropy"),  # an attribute that expand() does not copy
    ("Multinomial, logits", "expanded entropy"),
    ("Wishart, factor", "log_prob"),  # a slope for what is above the diagonal and never read
    ("Wishart, factor", "expanded log_prob"),
}


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    """PyTorch mixes in numbers of the default dtype here and there."""
    for library in BOTH.values():
        library.set_default_dtype(library.float64)
    yield
    for library in BOTH.values():
        library.set_default_dtype(library.float32)


def outcome(compute: Any, parameters: list[Any], library: Any) -> Any:
    """The result and its gradients, or the class of the exception."""
    gradients = [None] * len(parameters)
    try:
        result = compute()
        if result.requires_grad:
            weights = library.arange(1, result.numel() + 1, dtype=result.dtype)
            weights = weights.reshape(result.shape)
            total = (result * weights).sum()
            gradients = library.autograd.grad(
                total, parameters, retain_graph=True, allow_unused=True
            )
    except KINDS as error:
        return next(kind.__name__ for kind in KINDS if isinstance(error, kind))
    return [result.detach().numpy(), *(g if g is None else g.numpy() for g in gradients)]


def assert_same(ours: Any, theirs: Any, what: str, close: float = 1e-7) -> None:
    if isinstance(theirs, str) or isinstance(ours, str):
        assert ours == theirs, what
        return
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        label = f"{what}: {'value' if number == 0 else f'gradient of parameter {number - 1}'}"
        if one is None or other is None:
            # PyTorch sometimes says None and sometimes zero where nothing flows
            rest = other if one is None else one
            assert rest is None or not np.nan_to_num(rest).any(), label
            continue
        assert one.shape == other.shape, label
        assert one.dtype == other.dtype, label
        np.testing.assert_allclose(one, other, rtol=close, atol=close / 100, err_msg=label)


def questions(distribution: Any, library: Any, samples: Any) -> dict[str, Any]:
    """Everything one can ask without drawing."""
    value = library.tensor(samples)
    chance = library.linspace(0.1, 0.9, 4, dtype=library.float64)
    chance = chance.reshape(4, *[1] * len(distribution.batch_shape))
    asked = {name: (lambda name=name: getattr(distribution, name)) for name in MOMENTS}
    asked |= {
        "entropy": distribution.entropy,
        "perplexity": distribution.perplexity,
        "log_prob": lambda: distribution.log_prob(value),
        "cdf": lambda: distribution.cdf(value),
        "icdf": lambda: distribution.icdf(chance + distribution.mean.detach() * 0),
        "enumerate_support": distribution.enumerate_support,
        "enumerate_support(False)": lambda: distribution.enumerate_support(expand=False),
        "expanded log_prob": lambda: expanded(distribution).log_prob(value[:, None]),
        "expanded entropy": lambda: expanded(distribution).entropy(),
    }
    return asked


def expanded(distribution: Any) -> Any:
    return distribution.expand((2, *distribution.batch_shape))


@EVERY
def test_values_and_gradients(name: str) -> None:
    case = CASES[name]
    built = {label: case.build(library) for label, library in BOTH.items()}
    with torch.random.fork_rng():
        torch.manual_seed(3)
        samples = built["torch"][0].sample((3,)).numpy()
    answers = {}
    for label, library in BOTH.items():
        distribution, parameters = built[label]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers[label] = {
                what: outcome(compute, parameters, library)
                for what, compute in questions(distribution, library, samples).items()
            }
    for what, theirs in answers["torch"].items():
        if (name, what) not in WRONG_IN_PYTORCH:
            assert_same(answers["whygrad"][what], theirs, f"{name}.{what}", case.tolerance)


@EVERY
def test_shapes_and_words(name: str) -> None:
    ours, theirs = (CASES[name].build(library)[0] for library in BOTH.values())
    assert tuple(ours.batch_shape) == tuple(theirs.batch_shape)
    assert tuple(ours.event_shape) == tuple(theirs.event_shape)
    assert (ours.has_rsample, ours.has_enumerate_support) == (
        theirs.has_rsample, theirs.has_enumerate_support
    )  # fmt: skip
    assert ours.support.event_dim == theirs.support.event_dim
    assert ours.support.is_discrete == theirs.support.is_discrete
    assert list(ours.arg_constraints) == list(theirs.arg_constraints)
    shown = repr(ours).replace("whygrad.", "torch.")
    assert shown.split("(")[0] == repr(theirs).split("(")[0]
    for shape in ((), (4,), (2, 1)):
        sample = ours.sample(shape)
        assert tuple(sample.shape) == (*shape, *theirs.batch_shape, *theirs.event_shape)
        assert not sample.requires_grad
        assert bool(ours.support.check(sample).all())
        assert str(sample.dtype).split(".")[1] == str(theirs.sample().dtype).split(".")[1]


def test_names_and_signatures() -> None:
    """Everything PyTorch has."""
    for space in ("distributions", "distributions.constraints", "distributions.transforms"):
        ours, theirs = whygrad, torch
        for part in space.split("."):
            ours, theirs = getattr(ours, part), getattr(theirs, part)
        assert not set(theirs.__all__) - set(ours.__all__)
        for name in theirs.__all__:
            one, other = getattr(ours, name), getattr(theirs, name)
            if inspect.isclass(other) and inspect.isclass(one):
                shapes = [list(inspect.signature(each).parameters) for each in (one, other)]
                assert shapes[0] == shapes[1], name


def test_numbers_as_parameters() -> None:
    for library in BOTH.values():
        assert str(library.distributions.Normal(0, 1)) == "Normal(loc: 0.0, scale: 1.0)"
        normal = library.distributions.Normal(library.zeros(2, dtype=library.float64), 1)
        assert normal.sample().dtype is library.float64


REFUSED: dict[str, Any] = {
    "scale": lambda lib: lib.distributions.Normal(0.0, -1.0),
    "nan": lambda lib: lib.distributions.Normal(math.nan, 1.0),
    "probs": lambda lib: lib.distributions.Bernoulli(1.5),
    "both": lambda lib: lib.distributions.Bernoulli(0.5, 0.5),
    "none": lambda lib: lib.distributions.Categorical(),
    "no vector": lambda lib: lib.distributions.Categorical(lib.tensor(0.5)),
    "order": lambda lib: lib.distributions.Uniform(1.0, 0.0),
    "outside": lambda lib: lib.distributions.Beta(1.0, 1.0).log_prob(lib.tensor(1.5)),
    "class": lambda lib: lib.distributions.Categorical(lib.ones(3)).log_prob(lib.tensor(3)),
    "shape": lambda lib: lib.distributions.Normal(lib.zeros(2), 1.0).log_prob(lib.zeros(3)),
    "event": lambda lib: lib.distributions.Dirichlet(lib.ones(2)).log_prob(lib.ones(3) / 3),
    "no tensor": lambda lib: lib.distributions.Normal(0.0, 1.0).log_prob(1.0),
    "list": lambda lib: lib.distributions.Normal([0.0], 1.0),
    "matrices": lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2)),
    "indefinite": lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2), -lib.eye(2)),
    "dimensions": lambda lib: lib.distributions.Independent(lib.distributions.Normal(0.0, 1.0), 1),
    "never": lambda lib: lib.distributions.Geometric(lib.tensor(0.0)),
    "components": lambda lib: lib.distributions.MixtureSameFamily(
        lib.distributions.Categorical(lib.ones(2)), lib.distributions.Normal(lib.zeros(3), 1.0)
    ),
    "rsample": lambda lib: lib.distributions.Categorical(lib.ones(2)).rsample(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    with pytest.raises((ValueError, NotImplementedError)) as theirs:
        REFUSED[name](torch)
    with pytest.raises(theirs.type) as ours:
        REFUSED[name](whygrad)
    assert "cause:" in str(ours.value)
    assert "fix:" in str(ours.value)


def test_checks_can_be_turned_off() -> None:
    normal = whygrad.distributions.Normal(0.0, -1.0, validate_args=False)
    assert normal.expand((2,)).log_prob(whygrad.zeros(2)).shape == (2,)
    base = whygrad.distributions.Distribution
    base.set_default_validate_args(False)
    try:
        whygrad.distributions.Normal(0.0, -1.0)
    finally:
        base.set_default_validate_args(True)


def test_a_difference_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fault planted into a density the comparison fails."""
    monkeypatch.setattr(
        whygrad.distributions.Laplace, "entropy", lambda self: 1.0001 + (2 * self.scale).log()
    )
    with pytest.raises(AssertionError):
        test_values_and_gradients("Laplace")


def test_the_table_is_complete() -> None:
    made = {name.split(",")[0].split(" of ")[0] for name in CASES}
    abstract = {"Distribution", "ExponentialFamily"}
    for name in set(whygrad.distributions.__all__) - made - abstract:
        value = getattr(whygrad.distributions, name)
        assert not (
            inspect.isclass(value) and issubclass(value, whygrad.distributions.Distribution)
        )
    assert all(isinstance(each, Case) for each in CASES.values())


def test_the_mode_where_pytorch_has_none() -> None:
    """The density is level there, and lower on both sides."""
    distribution = whygrad.distributions.Kumaraswamy(whygrad.tensor([2.0, 1.5]), 3.0)
    at = distribution.mode.detach().requires_grad_()
    (slope,) = whygrad.autograd.grad(distribution.log_prob(at).sum(), at)
    assert slope.abs().max().item() < 1e-9
    assert bool((distribution.log_prob(at) > distribution.log_prob(at + 0.01)).all())
    assert bool((distribution.log_prob(at) > distribution.log_prob(at - 0.01)).all())
    assert bool(whygrad.distributions.Kumaraswamy(0.5, 3.0).mode.isnan())


def test_copies() -> None:
    """Distributions and transforms go through copy and pickle as PyTorch's do."""
    for name, case in CASES.items():
        with whygrad.no_grad():
            distribution, _ = case.build(whygrad)
            value = distribution.sample((2,))
            expected = distribution.log_prob(value)
        for each in (copy.copy(distribution), pickle.loads(pickle.dumps(distribution))):
            assert whygrad.equal(each.log_prob(value).detach(), expected), name
