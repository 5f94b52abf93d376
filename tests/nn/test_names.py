"""Names of ``torch.nn`` beyond the layers, and the signatures of all of it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.grad
import torch.nn.modules

import whygrad
from tests.nn.layers import (
    LIBRARIES,
    Layer,
    array,
    assert_same,
    check_gradients,
    check_outputs,
    check_state,
    refusal,
    share_state,
)

LAYERS = [
    Layer("SyncBatchNorm", 3).on(array(2, 3, 4)),
    Layer("SyncBatchNorm", 3, affine=False).on(array(4, 3)),
    Layer("LinearCrossEntropyLoss", 3, 4, bias=True).on(array(2, 3), np.array([1, 3])),
    Layer("LinearCrossEntropyLoss", 3, 4, out_features=(2,), ignore_index=1).on(
        array(2, 3), np.array([[1, 3], [0, 2]])
    ),
]


def test_layers_like_pytorch() -> None:
    for layer in LAYERS:
        check_state(layer)
        check_outputs(layer)
        check_gradients(layer)


def test_clusters_of_classes() -> None:
    mine, theirs = (
        library.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0, head_bias=True).double()
        for library in LIBRARIES
    )
    assert repr(mine) == repr(theirs)
    share_state(mine, theirs)
    seen = []
    for library, module in zip(LIBRARIES, (mine, theirs), strict=True):
        x = library.from_numpy(array(5, 8)).requires_grad_()
        output, loss = module(x, library.tensor([0, 4, 9, 2, 5]))
        (loss + (output**2).sum()).backward()
        single = module(x[0], library.tensor(4))
        seen.append([output, loss, x.grad, *[each.grad for each in module.parameters()]])
        seen[-1] += [single.output, single.loss, module.log_prob(x), module.predict(x)]
    for a, b in zip(*seen, strict=True):
        assert_same(a, b, "clusters")


def test_neighbouring_channels() -> None:
    for size, channels in ((3, 7), (5, 4), (4, 6)):
        outputs = [
            library.nn.CrossMapLRN2d(size, 0.1, 0.5, 2.0)(
                library.from_numpy(array(2, channels, 2, 2))
            )
            for library in LIBRARIES
        ]
        assert_same(*outputs, f"size {size}")


def test_batch_norms_are_replaced() -> None:
    for library in LIBRARIES:
        nn = library.nn
        model = nn.Sequential(nn.BatchNorm1d(3), nn.Sequential(nn.BatchNorm2d(2))).eval()
        new = nn.SyncBatchNorm.convert_sync_batchnorm(model)
        assert type(new[0]).__name__ == type(new[1][0]).__name__ == "SyncBatchNorm"
        assert not new[0].training
        assert list(new.state_dict()) == list(model.state_dict())


def test_data_parallel_is_the_module() -> None:
    for library in LIBRARIES:
        inner = library.nn.Linear(2, 3)
        model = library.nn.DataParallel(inner)
        assert model.module is inner
        assert list(model.state_dict()) == ["module.weight", "module.bias"]
        assert library.equal(model(library.ones(1, 2)), inner(library.ones(1, 2)))
        state = model.state_dict()
        take_off = library.nn.modules.utils.consume_prefix_in_state_dict_if_present
        take_off(state, "module.")
        inner.load_state_dict(state)


def test_gradients_of_convolutions() -> None:
    for dims in (1, 2, 3):
        x, weight = array(2, 4, *(6,) * dims), array(6, 2, *(2,) * dims)
        options = {"stride": 2, "padding": 1, "dilation": 1, "groups": 2}
        found = []
        for library in LIBRARIES:
            a, b = library.from_numpy(x), library.from_numpy(weight)
            output = getattr(library.nn.functional, f"conv{dims}d")(a, b, None, **options)
            grad = importlib.import_module(f"{library.__name__}.nn.grad")
            by_input = getattr(grad, f"conv{dims}d_input")(a.shape, b, output, **options)
            by_weight = getattr(grad, f"conv{dims}d_weight")(a, b.shape, output, **options)
            found.append([by_input, by_weight])
        for mine, theirs in zip(*found, strict=True):
            assert_same(mine, theirs, f"conv{dims}d")


def test_older_backward_hooks() -> None:
    answers = []
    for library in LIBRARIES:
        nn, seen = library.nn, []
        model = nn.Sequential(nn.Linear(2, 3), nn.Tanh()).double()
        with library.no_grad():
            for each in model.parameters():
                each.fill_(0.3)

        def note(module: Any, into: Any, out: Any, seen: list[Any] = seen) -> None:
            seen.append((type(module).__name__, [each.tolist() for each in (*into, *out)]))

        handle = model[1].register_backward_hook(note)
        model(library.ones(2, 2, dtype=library.float64)).sum().backward()
        handle.remove()
        model(library.ones(2, 2, dtype=library.float64)).sum().backward()
        answers.append(seen)
    ((name, mine),), ((other, theirs),) = answers
    assert name == other
    np.testing.assert_allclose(mine, theirs)
    layer = whygrad.nn.Linear(1, 1)
    layer.register_backward_hook(note)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full"):
        layer.register_full_backward_hook(note)


def test_small_names() -> None:
    from whygrad.nn.attention import SDPBackend, sdpa_kernel
    from whygrad.nn.modules.utils import _pair, _reverse_repeat_tuple, _single

    assert (_pair(3), _pair([1, 2]), _single(1)) == ((3, 3), (1, 2), (1,))
    assert _reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert whygrad.nn.factory_kwargs({"device": "cpu"}) == {"device": "cpu"}
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION]):
        pass
    with pytest.raises(RuntimeError, match="No viable backend"), sdpa_kernel(SDPBackend(3)):
        pass
    layer = whygrad.nn.Linear(2, 2)
    layer.compile()
    assert layer.share_memory() is layer
    assert isinstance(whygrad.nn.LSTM(1, 1), whygrad.nn.RNNBase)
    assert isinstance(whygrad.nn.LSTMCell(1, 1), whygrad.nn.RNNCellBase)
    with pytest.warns(UserWarning, match="Container is deprecated"):
        box = whygrad.nn.Container(layer=layer)
    assert box.layer is layer


@pytest.mark.parametrize(
    ("program", "phrase"),
    [
        (
            lambda lib: lib.nn.parallel.DistributedDataParallel(lib.nn.Linear(1, 1)),
            "Default process group has not been initialized",
        ),
        (lambda lib: lib.nn.factory_kwargs({"size": 1}), "unexpected kwargs"),
        (lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2]), "cutoffs should be"),
        (
            lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(
                lib.ones(1, 4), lib.tensor([5])
            ),
            "Target values should be in [0, 4]",
        ),
        (lambda lib: lib.nn.CrossMapLRN2d(3)(lib.ones(3)), "Expected input to be 4D"),
    ],
)
def test_refusals(program: Any, phrase: str) -> None:
    refusal(program, phrase)


# --- signatures -----------------------------------------------------------------------------------

# What PyTorch has and whygrad does not, with the reason.
NO_SUCH_CLASS: dict[str, str] = {}
OTHER_PARAMETERS = {
    "Hardtanh": "min_value and max_value are older names, of which PyTorch warns",
    "RNNCellBase": "the number of gates of a cell is its class here",
    "GRU": "PyTorch takes *args; here they are named",
    "LSTM": "PyTorch takes *args; here they are named",
    "NLLLoss2d": "PyTorch takes *args; here they are named",
    "RNN": "PyTorch takes *args; here the first are named",
    "RNNBase": "the mode of the network is its class here",
    "Sigmoid": "PyTorch shows the *args of Module, and refuses any",
    "Softmax2d": "PyTorch shows the *args of Module, and refuses any",
    "Softsign": "PyTorch shows the *args of Module, and refuses any",
    "Tanh": "PyTorch shows the *args of Module, and refuses any",
    "Tanhshrink": "PyTorch shows the *args of Module, and refuses any",
    "LinearCrossEntropyOptions": "chunks are PyTorch's own affair",
}
OTHER_FORWARD = {
    "RNNBase": "input",
    "RMSNorm": "x",
    "ParameterDict": "input",
    "ParameterList": "input",
}
NO_SUCH_FUNCTION = {
    "assert_int_or_pair", "boolean_dispatch", "handle_torch_function",
    "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
    "scaled_grouped_mm", "scaled_mm",
}  # fmt: skip
# ``_stacklevel`` says whose line a warning names; whygrad names the user's.
OTHER_ARGUMENTS = {"log_softmax": "_stacklevel", "softmax": "_stacklevel", "softmin": "_stacklevel"}


def parameters(function: Any) -> list[str] | None:
    try:
        found = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None
    return None if found == ["args", "kwargs"] else found


def test_every_class_takes_pytorchs_arguments() -> None:
    differing, absent = [], []
    for name, theirs in vars(torch.nn).items():
        if not inspect.isclass(theirs) or name.startswith("_"):
            continue
        mine = getattr(whygrad.nn, name, None)
        if mine is None:
            absent.append(name)
            continue
        if parameters(theirs) not in (None, parameters(mine)) and name not in OTHER_PARAMETERS:
            differing.append((name, parameters(mine), parameters(theirs)))
        forward = getattr(theirs, "forward", None)
        if forward is not None and name not in OTHER_FORWARD:
            wanted, given = parameters(forward), parameters(mine.forward)
            if wanted != given and "args" not in str(wanted) and "args" not in str(given):
                differing.append((f"{name}.forward", given, wanted))
    assert absent == list(NO_SUCH_CLASS)
    assert not differing


def test_every_function_takes_pytorchs_arguments() -> None:
    for place in ("functional", "init", "utils", "utils.rnn", "utils.parametrizations"):
        home = importlib.import_module(f"torch.nn.{place}")
        ours = importlib.import_module(f"whygrad.nn.{place}")
        for name, theirs in vars(home).items():
            known = str(getattr(theirs, "__module__", "")).startswith(("torch", "None"))
            if name.startswith("_") or inspect.isclass(theirs) or not callable(theirs) or not known:
                continue
            if name in NO_SUCH_FUNCTION:
                assert not hasattr(ours, name), f"{name} is there: take it off the list"
                continue
            mine = getattr(ours, name, None)
            if place == "utils.rnn" and mine is None:
                continue  # helpers for PyTorch's own compiler
            assert mine is not None, f"nn.{place} has no {name}"
            wanted = parameters(theirs)
            given = parameters(mine)
            if wanted is not None and given is not None:
                missing = set(wanted) - set(given) - {OTHER_ARGUMENTS.get(name), "out"}
                assert not missing, f"nn.{place}.{name} does not take {sorted(missing)}"


def test_every_method_of_a_module_is_there() -> None:
    own = {"T_destination", "call_super_init"}
    missing = [
        name
        for name in dir(torch.nn.Module)
        if not name.startswith("_") and name not in own and not hasattr(whygrad.nn.Module, name)
    ]
    assert not missing


def test_modules_are_where_pytorch_has_them() -> None:
    for info in pkgutil.iter_modules(torch.nn.modules.__path__):
        if info.name in ("_functions", "linear_cross_entropy"):
            continue
        theirs = importlib.import_module(f"torch.nn.modules.{info.name}")
        mine = importlib.import_module(f"whygrad.nn.modules.{info.name}")
        for name in getattr(theirs, "__all__", ()):
            if not name.startswith("register_module_"):
                assert hasattr(mine, name), f"{info.name}.{name}"
