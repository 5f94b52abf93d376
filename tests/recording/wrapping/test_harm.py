"""Programs that a careless observer would break run as they do alone."""

from __future__ import annotations

import contextlib
import inspect
import io
import runpy
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed

import whygrad
from tests.doctor.asking import ENGINES, watched
from whygrad.doctor import Outcome, run_script, watch
from whygrad.recording.engines import own, pytorch
from whygrad.recording.patching import patched, wrapped

LOOP = """
import torch

torch.manual_seed(0)
x = torch.randn(16, 4)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range({steps}):
    {before}
    loss = ((net(x) - x.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {after}
print(loss.item())
"""


def script(folder: Path, source: str, engine: str = "torch") -> Path:
    path = folder / "program.py"
    source = textwrap.dedent(source)
    if engine == "whygrad":
        source = source.replace("import torch", "import whygrad as torch")
    path.write_text(source, encoding="utf-8")
    return path


def same(path: Path, troubles: bool = False) -> Outcome:
    """How a program ends that is watched, which is as it ends alone."""
    printed = []
    outcome: Any = None
    for run in (lambda: runpy.run_path(str(path)), lambda: run_script(str(path))):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            outcome = run()
        printed.append(output.getvalue())
    assert outcome.error is None, outcome.error
    assert printed[0] == printed[1]
    assert troubles or outcome.session.run.troubles == []
    return outcome  # type: ignore[no-any-return]


def test_autocast_with_a_dtype(tmp_path: Path) -> None:
    inside = """with torch.autocast("cpu", dtype=torch.bfloat16):
        mask = torch.full((4, 4), float("-inf"), dtype=torch.float32).triu(1)
        torch.softmax(net(x), dim=-1, dtype=torch.float32).sum(dim=0, dtype=torch.float64)"""
    outcome = same(script(tmp_path, LOOP.format(steps=12, before=inside, after="")))
    assert outcome.diagnosis.healthy
    assert outcome.session.run.stopped is None


def test_memory_that_is_given_back(tmp_path: Path) -> None:
    """Between its steps the program frees its parameters, a batch, and lets a buffer grow."""
    after = """held, storage = net.weight.detach().clone(), net.weight.untyped_storage()
    size = storage.nbytes()
    storage.resize_(0)
    storage.resize_(size)
    net.weight.data.copy_(held)
    x.clone().untyped_storage().resize_(0)
    torch.zeros(2).resize_(20 + step)"""
    outcome = same(script(tmp_path, LOOP.format(steps=40, before="", after=after)))
    assert outcome.diagnosis.healthy


@pytest.mark.skipif(
    not (torch.distributed.is_available() and torch.distributed.is_gloo_available()),
    reason="this PyTorch has no gloo",
)
def test_parameters_that_are_spread_over_ranks(tmp_path: Path) -> None:
    source = f"""
    import torch, torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    store = dist.FileStore({str(tmp_path)!r} + "/store", 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        mesh = init_device_mesh("cpu", (1,))
        for layer in (net[0], net[2], net):
            fully_shard(layer, mesh=mesh)
        optimizer = torch.optim.SGD(net.parameters(), 0.05)
        x = torch.randn(16, 4)
        for _ in range(12):
            loss = ((net(x) - x.sum(1, keepdim=True)) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(loss.item())
    finally:
        dist.destroy_process_group()
        __import__("os").remove({str(tmp_path)!r} + "/store")
    """
    outcome = same(script(tmp_path, source))
    assert outcome.diagnosis.healthy
    assert len(outcome.session.run.courses[0].steps) == 12


# --- names of arguments ---------------------------------------------------------------------------


def _wrappers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """Every wrapper that is put in place: the name, the wrapper, what it stands for."""
    from whygrad.recording.engines import modes
    from whygrad.recording.wrapping import layer, transparency

    found: list[tuple[str, Callable[..., Any], Any]] = []

    def noted(make: Callable[..., Any]) -> Callable[..., Any]:
        def making(owner: Any, name: str, wrapper: Any, *more: Any, **options: Any) -> Any:
            found.append((f"{owner!r}.{name}", wrapper, getattr(owner, name)))
            return make(owner, name, wrapper, *more, **options)

        return making

    for module in (own, modes, transparency):
        monkeypatch.setattr(module, "patched", noted(patched))
    for module in (own, layer):
        monkeypatch.setattr(module, "wrapped", noted(wrapped))
    for engine in (torch, whygrad):
        net = engine.nn.Linear(1, 1)  # type: ignore[attr-defined]
        doc = watch(net, engine.optim.SGD(net.parameters(), 0.1))  # type: ignore[attr-defined]
        with doc, transparency.honest_warnings():
            engine.optim.Adam(engine.nn.Linear(1, 1).parameters())  # type: ignore[attr-defined]
        assert doc.run.troubles == []
    yield from found


def test_no_wrapper_has_a_name_that_an_argument_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a wrapper takes for itself is positional; other names are those of the original."""
    wrappers = list(_wrappers(monkeypatch))
    assert len(wrappers) > 60
    for name, wrapper, original in wrappers:
        parameters = list(inspect.signature(wrapper).parameters.values())
        assert parameters[0].kind in (
            parameters[0].POSITIONAL_ONLY,
            parameters[0].VAR_POSITIONAL,
        ), name
        theirs = {each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD}
        assert not theirs or theirs <= set(inspect.signature(original).parameters), name


@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_whose_arguments_have_our_names(tmp_path: Path, engine: str) -> None:
    source = """
    import torch

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    class Net(torch.nn.Module):
        def __init__(self, inner, module):
            super().__init__()
            self.inner = module

        def forward(self, x, *, module, inner, args, kwargs, op, frame, engine, dtype):
            return Function.apply(self.inner(x)) * inner

        def zero_grad(self, inner=None, thing=None, set_to_none=True):
            super().zero_grad(set_to_none=set_to_none)

    class SGD(torch.optim.SGD):
        def __init__(self, params, *, inner, optimizer):
            super().__init__(params=params, lr=0.01)

    torch.manual_seed(0)
    net = Net(inner=1, module=torch.nn.Linear(4, 1))
    optimizer = SGD(net.parameters(), inner=1, optimizer=2)
    x = torch.randn(16, 4)
    for _ in range(40):
        made = net(x, module=1, inner=2.0, args=3, kwargs=4, op=5, frame=6, engine=7, dtype=8)
        loss = ((made - x.sum(1, keepdim=True)) ** 2).mean()
        net.zero_grad(inner=1, thing=2)
        torch.autograd.backward(tensors=loss)
        torch.nn.utils.clip_grad_norm_(parameters=net.parameters(), max_norm=100.0)
        optimizer.step()
    print(loss.item())
    """
    assert same(script(tmp_path, source, engine)).diagnosis.healthy


def test_what_a_wrapper_does_not_take_goes_to_the_original() -> None:
    class Owner:
        def method(self, value: int, inner: int = 0) -> int:
            return value + inner

    def wrapper(inner: Callable[..., int], owner: Any, value: int) -> int:
        return inner(owner, value)

    with patched(Owner, "method", wrapper):
        assert Owner().method(1, inner=2) == 3
        assert Owner().method(1) == 1
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'value'"):
            Owner().method()  # type: ignore[call-arg]


# --- a call that fails only while it is watched ---------------------------------------------------


def _clumsy(dtype: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def test_a_call_that_we_break_is_made_again_without_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = """with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.full((4, 4), 0.5, dtype=torch.float32 if step > 2 else torch.float64)
        torch.rand(3, **({} if step < 6 else {"dtype": torch.float32}))"""
    path = script(tmp_path, LOOP.format(steps=12, before=inside, after=""))
    monkeypatch.setattr(pytorch, "_cast_to", _clumsy)
    outcome = same(path)
    stopped = outcome.session.run.stopped
    assert stopped is not None
    assert (stopped.op, stopped.where.line) == ("full", 10)
    report = outcome.diagnosis.report()
    assert "✓" not in report
    assert "watching was stopped at program.py:10" in " ".join(report.split())
    assert outcome.diagnosis.to_dict()["status"] == "unclear"
    assert 'class="verdict unclear"' in outcome.diagnosis.report("html")


@pytest.mark.parametrize("engine", ENGINES)
def test_what_fails_alone_fails_the_same(tmp_path: Path, engine: str) -> None:
    """Once, with the program's exception, and with the random numbers of one failure."""
    source = """
    import torch

    calls = []

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            calls.append(1)
            return x @ torch.ones(3)

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    torch.manual_seed(0)
    w = torch.ones(4, requires_grad=True)
    for attempt in (lambda: Function.apply(w), lambda: w @ torch.rand(3), lambda: w + "text"):
        try:
            attempt()
        except Exception as error:
            print(type(error), len(calls), torch.rand(1).item())
    """
    outcome = same(script(tmp_path, source, engine))
    assert outcome.session.run.stopped is None
    assert outcome.session.run.failure is not None


META = """
with torch.device("meta"):
    net = nn.Linear(4, 1)
    nn.init.zeros_(net.bias)
    print(net(torch.empty(2, 4)).shape)
net = net.to_empty(device="cpu")
torch.manual_seed(0)
nn.init.normal_(net.weight)
nn.init.zeros_(net.bias)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
"""


def test_a_model_whose_memory_comes_later(tmp_path: Path) -> None:
    case = watched(tmp_path, META)
    assert not case.run.troubles
    assert len(case.courses[0].steps) == 4


COPIES = """
import copy
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    kept = copy.deepcopy([optimizer.state_dict(), net.state_dict(), net])
    for name, value in net.state_dict().items():
        assert torch.equal(kept[1][name], value)
        assert torch.equal(kept[2].state_dict()[name], value)
        assert kept[1][name].data_ptr() != value.data_ptr()
"""


def test_copies_are_what_they_are_alone(tmp_path: Path) -> None:
    case = watched(tmp_path, COPIES)
    assert case.run.error is None
    assert not case.run.troubles
    assert len(case.courses[0].steps) == 20
