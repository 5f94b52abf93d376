"""A program that is watched runs as if it were not: same numbers, same lines, same memory."""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import random
import re
import runpy
import textwrap
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.doctor.suite import RUNS
from tests.test_scripts import SCRIPTS, one_thread_and_defaults, swapped
from whygrad.doctor import Outcome, run_script, watch
from whygrad.recording.wrapping.transparency import without_doctor

# One of each kind; the others differ in what they compute, not in how.
CHOSEN = {
    "autograd_basics", "bag_of_words", "batchnorm_dropout", "checkpointing", "custom_function",
    "function_transforms", "gan_steps", "lbfgs_fit", "lr_schedules", "module_hooks",
    "transformer_classifier",
}  # fmt: skip
HEALTHY = {"bfloat16_autocast", "frozen_backbone", "sparse_embedding", "wgan_gp"}
PROGRAMS = [path for path in SCRIPTS if path.stem in CHOSEN] + [
    path for path in sorted((RUNS / "healthy" / "tuning").rglob("*.py")) if path.stem in HEALTHY
]


def random_state() -> tuple[Any, ...]:
    states = torch.get_rng_state().tolist(), whygrad.get_rng_state().tolist()
    return *states, np.random.get_state()[1].tolist(), random.getstate()


def observed(run: Callable[[], Any]) -> tuple[str, tuple[Any, ...], Any]:
    """What a program prints, the random state it leaves, and what ``run`` returns."""
    printed = io.StringIO()
    with (
        one_thread_and_defaults(),
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for seed in (torch.manual_seed, whygrad.manual_seed, np.random.seed, random.seed):
            seed(0)
        result = run()
        return printed.getvalue(), random_state(), result


def same(path: Path) -> Outcome:
    """Assert that a program is the same with and without the doctor."""
    plain = observed(lambda: runpy.run_path(str(path), run_name="__main__"))
    watched = observed(lambda: run_script(str(path)))
    outcome: Outcome = watched[2]
    assert outcome.error is None, outcome.error
    assert watched[0] == plain[0]
    assert watched[1] == plain[1], "random numbers were drawn"
    assert outcome.session.run.troubles == []
    return outcome


@pytest.mark.parametrize("library", ["torch", "whygrad"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_same_numbers_bit_for_bit(path: Path, library: str, tmp_path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    only = re.search(r"^# engine: (\w+)$", source, re.MULTILINE)
    if only is not None and only[1] != library:
        pytest.skip("a script for the other engine")
    copy = tmp_path / path.name
    copy.write_text(swapped(source) if library == "whygrad" else source, encoding="utf-8")
    same(copy)


SPECIAL = {
    "fast_path_of_attention": """
        layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
        optimizer = torch.optim.Adam(layer.parameters())
        layer(torch.randn(3, 5, 16)).pow(2).mean().backward()
        optimizer.step()
        layer.eval()
        with torch.no_grad():
            print(layer(torch.randn(4, 7, 16)).double().pow(3).sum().item().hex())
    """,
    "compiled": """
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        fast = torch.compile(net, backend="eager")
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(20):
            x = torch.randn(16, 4)
            loss = (fast(x) - x.sum(1, keepdim=True)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
        from torch._dynamo.utils import counters
        print(dict(counters["graph_break"]))
    """,
    "checkpointed": """
        from torch.utils.checkpoint import checkpoint
        first, last = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.ReLU()), nn.Linear(8, 1)
        optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.05)
        for step in range(12):
            x = torch.randn(16, 4, requires_grad=True)
            loss = last(checkpoint(first, x, use_reentrant=bool(step % 2))).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex(), x.grad.sum().item().hex())
    """,
    "parallel_and_autocast": """
        net = nn.DataParallel(nn.Linear(4, 1))
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
        for _ in range(8):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.mse_loss(net(torch.randn(16, 4)), torch.ones(16, 1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
    """,
    "step_that_raises": """
        class Once(torch.optim.SGD):
            def step(self, closure=None):
                super().step()
                raise RuntimeError("once")

        class Counted(torch.Tensor):
            calls = 0

            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                Counted.calls += 1
                return super().__torch_function__(function, types, args, kwargs or {})

        net = nn.Linear(2, 1)
        optimizer = Once(net.parameters(), lr=0.1)
        for _ in range(3):
            loss = net(torch.randn(4, 2)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            try:
                optimizer.step()
            except RuntimeError as error:
                print(error)
            torch.ones(2).as_subclass(Counted) + 1
        print(Counted.calls, loss.item().hex())
    """,
    "states_by_name": """
        import io
        net = nn.Linear(2, 1)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        for _ in range(3):
            loss = net(torch.randn(4, 2)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        file = io.BytesIO()
        torch.save(obj=net.state_dict(), f=file)
        file.seek(0)
        print(net.load_state_dict(state_dict=torch.load(f=file), strict=False))
        optimizer.load_state_dict(state_dict=optimizer.state_dict())
        scheduler.load_state_dict(state_dict=scheduler.state_dict())
        for wrong in ((), (3,)):
            try:
                net.load_state_dict(*wrong)
            except TypeError as error:
                print(error)
    """,
    "classes_of_main_in_files": """
        import io, copy
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(2, 2)
            def forward(self, x):
                return self.linear(x)
        net, file = Net(), io.BytesIO()
        torch.save(net, file)
        file.seek(0)
        loaded = torch.load(file, weights_only=False)
        print(type(loaded) is Net, loaded(torch.ones(1, 2)), copy.deepcopy(net)(torch.ones(1, 2)))
    """,
    "patched_by_the_program": """
        original = nn.Linear.forward
        nn.Linear.forward = lambda self, x: original(self, x) * 2
        try:
            print(nn.Linear(2, 1)(torch.ones(1, 2)).item().hex())
        finally:
            nn.Linear.forward = original
    """,
}


@pytest.mark.parametrize("name", SPECIAL)
def test_what_pytorch_does_specially(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.py"
    head = "import torch\nfrom torch import nn\n\n"
    path.write_text(head + textwrap.dedent(SPECIAL[name]).lstrip(), encoding="utf-8")
    same(path)


def test_other_threads_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "threads.py"
    path.write_text(textwrap.dedent("""
        import threading
        import torch
        from torch import nn

        def work(seed):
            generator = torch.Generator().manual_seed(seed)
            net = nn.Linear(3, 1)
            nn.init.constant_(net.weight, 0.1)
            nn.init.zeros_(net.bias)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for _ in range(20):
                loss = (net(torch.randn(8, 3, generator=generator)) - 1).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            found[seed] = loss.item().hex()

        found = {}
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
        [each.start() for each in threads]
        [each.join() for each in threads]
        print(sorted(found.items()))
    """), encoding="utf-8")  # fmt: skip
    printed, _, outcome = observed(lambda: run_script(str(path)))
    assert printed == observed(lambda: runpy.run_path(str(path), run_name="__main__"))[0]
    assert outcome.session.run.passes == []


def test_everything_is_put_back() -> None:
    def parts() -> list[Any]:
        found: list[Any] = [warnings.warn, warnings._showwarnmsg]  # type: ignore[attr-defined]
        for library in (torch, whygrad):
            nn: Any = library.nn
            found += [nn.Module.__call__, nn.Module.__init__, library.autograd.backward]
            found += [library.optim.SGD.step, library.optim.Optimizer.zero_grad]
            found += [nn.utils.clip_grad_norm_, library.Tensor.__dict__["detach"]]
        return [*found, torch.compile, torch.overrides.has_torch_function]

    before = parts()
    with contextlib.suppress(ZeroDivisionError), watch():
        torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        whygrad.optim.SGD([whygrad.ones(1, requires_grad=True)], lr=1.0)
        raise ZeroDivisionError
    assert parts() == before
    assert torch.overrides._get_current_function_mode_stack() == []


# --- lines ----------------------------------------------------------------------------------------


def test_warnings_name_the_line_of_the_program(tmp_path: Path) -> None:
    path = tmp_path / "warned.py"
    path.write_text(textwrap.dedent("""
        import warnings
        import torch
        import torch.nn.functional as F
        def old():
            warnings.warn("gone soon", UserWarning, stacklevel=2)
        for _ in range(2):
            old()
        for _ in range(2):
            F.mse_loss(torch.zeros(3, 1), torch.zeros(3))
        torch.nn.MSELoss()(torch.zeros(3, 1), torch.zeros(3))
        F.softmax(torch.ones(3))
        made = torch.ones(2, requires_grad=True) * 1
        made.grad
    """).lstrip(), encoding="utf-8")  # fmt: skip

    def lines(run: Callable[[], Any]) -> list[tuple[str, int]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.resetwarnings()
            warnings.simplefilter("default")
            run()
        return [(Path(each.filename).name, each.lineno) for each in caught]

    plain = lines(lambda: runpy.run_path(str(path), run_name="__main__"))
    watched = lines(lambda: run_script(str(path)))
    assert ("warned.py", 9) in plain
    assert [each for each in watched if each[0] != "module.py"] == [
        each for each in plain if each[0] != "module.py"
    ]


def test_tracebacks_have_no_frames_of_the_doctor() -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.cross_entropy(x, torch.zeros(9, dtype=torch.long))

    def frames(error: BaseException) -> list[tuple[str, int]]:
        found, at = [], error.__traceback__
        while at is not None:
            found.append((at.tb_frame.f_code.co_filename, at.tb_lineno))
            at = at.tb_next
        return found[1:]

    with pytest.raises(ValueError, match="batch_size") as plain:
        Net()(torch.zeros(5, 3))
    with pytest.raises(ValueError, match="batch_size") as watched, watch():
        Net()(torch.zeros(5, 3))
    assert len(frames(watched.value)) > len(frames(plain.value))
    assert frames(without_doctor(watched.value)) == frames(plain.value)


# --- the doctor's own trouble ---------------------------------------------------------------------


def test_trouble_of_the_doctor_is_not_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    from whygrad.recording.watching.loop import Loop
    from whygrad.recording.watching.modules import Modules
    from whygrad.recording.watching.recorder import Recorder

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("the doctor's mistake")

    for part, names in {
        Modules: ("enter", "leave"),
        Loop: ("backward_begins", "step_begins", "zeroed"),
        Recorder: ("_before_write",),
    }.items():
        for name in names:
            monkeypatch.setattr(part, name, broken)
    with watch() as session:
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(4, 2)).sum().backward()
            optimizer.step()
        written = torch.zeros(2)
        written.add_(1)
    assert written.tolist() == [1.0, 1.0], "carried out once"
    assert session.run.troubles == ['KeyError: "the doctor\'s mistake"']
    assert ("watching", session.run.troubles[0]) in session.diagnosis.failures


def test_views_whose_base_was_written_to_are_replayed() -> None:
    """PyTorch crashes if such a view gets a hook before anybody has asked for its node."""
    weight = torch.ones(3, requires_grad=True)
    with watch() as session:
        for _ in range(2):
            base = torch.zeros(4, 3)
            view = base[0]
            base[1] = weight * 2
            (base.sum() + view.sum()).backward()
    assert session.diagnosis.failures == []


def test_asking_in_the_middle_changes_nothing() -> None:
    def losses(asks: bool) -> list[float]:
        torch.manual_seed(0)
        nn = torch.nn
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 2))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        found = []
        with watch(model, optimizer) as session:
            for step in range(12):
                x = torch.randn(16, 4)
                loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
                optimizer.zero_grad()
                loss.backward()
                if asks and step == 5:
                    assert session.findings == []
                optimizer.step()
                found.append(loss.item())
        return found

    with one_thread_and_defaults():
        assert losses(asks=True) == losses(asks=False)


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [torch, whygrad], ids=["torch", "whygrad"])
def test_memory_does_not_grow(library: Any) -> None:
    nn = library.nn

    def tensors() -> int:
        gc.collect()
        return sum(issubclass(type(each), library.Tensor) for each in gc.get_objects())

    with one_thread_and_defaults(), watch() as session:
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
        optimizer = library.optim.Adam(model.parameters(), lr=1e-3)
        alive = []
        for step in range(2001):
            x = library.randn(8, 4)
            loss = nn.functional.mse_loss(model(x), x[:, :1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step in (200, 2000):
                alive.append(tensors())
        tape = session.observer.snapshots.log(session.run.engine)  # type: ignore[arg-type]
        assert len(tape) < 500
    assert alive[1] <= alive[0] + 50
    assert len(session.run.courses[0].steps) == 2001


def test_the_scope_is_where_the_session_was_entered() -> None:
    with watch() as session:
        seen = []
        thread = threading.Thread(target=lambda: seen.append(session.observer.scope.here))
        thread.start()
        thread.join()
        assert session.observer.scope.here
    assert seen == [False]
    assert not session.observer.scope.here


@pytest.mark.parametrize("library", ["torch", "whygrad"])
def test_questions_in_between_change_nothing(library: str) -> None:
    space = importlib.import_module(library)

    def train(curious: bool) -> tuple[list[float], list[int]]:
        space.manual_seed(0)
        nn = space.nn
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
        optimizer = space.optim.SGD(model.parameters(), lr=0.1)
        x = space.randn(32, 4)
        losses = []
        with watch(model, optimizer) as doc:
            for step in range(8):
                optimizer.zero_grad()
                loss = ((model(x) - x[:, :1]) ** 2).mean()
                if curious and step in (3, 5):
                    assert doc.findings == []
                loss.backward()
                if curious and step in (0, 5):
                    assert doc.findings == []
                optimizer.step()
                losses.append(loss.item())
            earlier = doc.diagnosis if curious else None
        assert doc.findings == []
        assert doc.diagnosis is not earlier  # the end is taken into account
        return losses, [len(doc.run.passes), *(len(each.steps) for each in doc.run.courses)]

    assert train(curious=True) == train(curious=False)
