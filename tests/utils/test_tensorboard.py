"""Event files, read back and compared with those of PyTorch's writer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import whygrad


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of protobuf and tensorboard
        yield


def events(folder: Path) -> dict[str, list[Any]]:
    """What the files of a run contain, by folder, without the times of day."""
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    found: dict[str, list[Any]] = {}
    for path in sorted(folder.rglob("events.out.tfevents.*")):
        place = str(path.parent.relative_to(folder))
        for raw in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(raw)
            event.ClearField("wall_time")
            found.setdefault(place, []).append(event)
    return found


def run(lib: Any, folder: Path, program: Callable[[Any, Any], None]) -> dict[str, list[Any]]:
    from importlib import import_module

    writer = import_module(f"{lib.__name__}.utils.tensorboard").SummaryWriter(log_dir=folder)
    with writer:
        program(lib, writer)
    return events(folder)


def numbers(lib: Any, writer: Any) -> None:
    x = lib.tensor([1.0, 2.0, 2.0, -3.0, 1e-3], requires_grad=True)
    writer.add_scalar("loss", x[0] * 1.5, 3)
    writer.add_scalar("loss", 2, 4, walltime=5.0)
    writer.add_scalar("loss", np.float32(0.1), 5, new_style=True)
    writer.add_scalar("loss", 0.1, 6, new_style=True, double_precision=True)
    writer.add_scalar("bare", lib.tensor([0.5], dtype=lib.bfloat16).float())
    writer.add_scalars("both/of them", {"train": 1.0, "test": x[1]}, 1)
    writer.add_scalars("both/of them", {"train": 0.5}, 2)
    writer.add_histogram("weights", x, 1)
    writer.add_histogram("weights", np.arange(10), 2, bins="auto")
    writer.add_histogram("weights", np.zeros(2), 3)
    writer.add_histogram("weights", np.linspace(0, 1, 50), 4, bins=20, max_bins=6)
    writer.add_histogram_raw("raw", 0, 1, 2, 3, 4, [1, 2], [3, 4], 1)
    labels, guesses = np.array([0, 1, 1, 0]), np.array([0.2, 0.6, 0.9, 1.0])
    writer.add_pr_curve("curve", labels, guesses, 1)
    writer.add_pr_curve("curve", lib.tensor(labels), lib.tensor(guesses), 2, 5, weights=guesses)
    row = np.arange(3.0)
    writer.add_pr_curve_raw("curve", row, row, row, row, row, row, 1, 3)


def pictures(lib: Any, writer: Any) -> None:
    rng = np.random.default_rng(0)
    pixels = rng.uniform(size=(3, 4, 5)).astype(np.float32)
    writer.add_image("one", lib.tensor(pixels), 1)
    writer.add_image("one", pixels.transpose(1, 2, 0), 2, dataformats="HWC")
    writer.add_image("grey", pixels[:1], 3)
    writer.add_image("grey", (pixels[0] * 255).astype(np.uint8), 4, dataformats="HW")
    writer.add_images("many", rng.uniform(size=(10, 3, 2, 2)), 1)
    writer.add_images("many", rng.uniform(size=(3, 2, 2, 1)), 1, dataformats="NHWC")
    writer.add_audio("tone", np.linspace(-1, 1, 9), 1, sample_rate=8000)
    writer.add_text("words", "# hello\n*world*", 1)


def figures(lib: Any, writer: Any) -> None:
    from matplotlib.figure import Figure

    made = []
    for height in (1.0, 2.0):
        figure = Figure(figsize=(0.4, 0.3), dpi=50)
        figure.add_subplot().plot([0.0, height])
        made.append(figure)
    writer.add_figure("plot", made[0], 1, close=False)
    writer.add_figure("plots", made, 1)


def settings(lib: Any, writer: Any) -> None:
    writer.add_hparams(
        {"lr": 0.1, "deep": True, "kind": "adam", "none": None, "size": 3},
        {"accuracy": 0.5, "loss": lib.tensor(0.25)},
        hparam_domain_discrete={"kind": ["adam", "sgd"]},
        run_name="first",
        global_step=7,
    )


@pytest.mark.parametrize("program", [numbers, pictures, figures, settings])
def test_same_events_as_pytorch(program: Callable[[Any, Any], None], tmp_path: Path) -> None:
    mine = run(whygrad, tmp_path / "mine", program)
    theirs = run(torch, tmp_path / "theirs", program)
    assert mine.keys() == theirs.keys()
    for place, expected in theirs.items():
        for got, wanted in zip(mine[place], expected, strict=True):
            assert _plain(got) == _plain(wanted)


def _plain(event: Any) -> Any:
    """With the hyperparameters decoded: their order in a message is not defined."""
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    parts = []
    for value in event.summary.value:
        data = value.metadata.plugin_data
        if data.plugin_name == "hparams":
            parts.append(str(HParamsPluginData.FromString(data.content)))
            data.content = b""
    return event, parts


def test_files_are_where_and_when_they_should_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from whygrad.utils.tensorboard import SummaryWriter

    monkeypatch.chdir(tmp_path)
    writer = SummaryWriter(comment="_try")
    assert writer.get_logdir().startswith("runs/")
    assert writer.get_logdir().endswith("_try")
    writer.add_scalar("a", 1.0, 1)
    writer.flush()
    assert sum(map(len, events(tmp_path / "runs").values())) == 2
    writer.close()
    writer.close()
    writer.add_scalar("a", 2.0, 2)  # begins a new file, as PyTorch's does
    writer.close()
    assert len(list(tmp_path.rglob("events.out.tfevents.*"))) == 2
    with SummaryWriter(log_dir=tmp_path / "purged", purge_step=3) as writer:
        writer.add_scalar("a", 1.0, 3)
    found = events(tmp_path / "purged")["."]
    assert any(each.HasField("session_log") and each.step == 3 for each in found)


def test_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    from whygrad.utils.tensorboard import SummaryWriter

    with SummaryWriter(log_dir=tmp_path) as writer:
        with pytest.warns(UserWarning, match=r"whygrad\.summary\(model\)"):
            writer.add_graph(whygrad.nn.Linear(1, 1), whygrad.ones(1, 1))
        for call, kind, words in (
            (lambda: writer.add_scalar("a", whygrad.ones(2)), AssertionError, "one number"),
            (lambda: writer.add_scalar("a", "x"), NotImplementedError, "a value of type str"),
            (lambda: writer.add_histogram("a", []), ValueError, "no element"),
            (lambda: writer.add_image("a", np.ones((2, 2))), AssertionError, "3 dimensions"),
            (lambda: writer.add_hparams({"a": []}, {}), ValueError, "value should be one of"),
            (lambda: writer.add_hparams([], {}), TypeError, "should be a dictionary"),
            (lambda: writer.add_embedding(), NotImplementedError, "add_figure"),
        ):
            with pytest.raises(kind, match=words):
                call()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util
    import sys

    for name in [each for each in sys.modules if each.startswith("whygrad.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "tensorboard" else real(name),
    )
    with pytest.raises(ModuleNotFoundError, match="pip install tensorboard"):
        importlib.import_module("whygrad.utils.tensorboard")
