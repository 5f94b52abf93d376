"""``track``: the same loop with and without a bar, and a bar that cleans up after itself."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import whygrad as wg
from whygrad.data import DataLoader, TensorDataset
from whygrad.training import notebook_bar, progress
from whygrad.training.wording import duration, throughput


def loader(batch_size: int | None = 4) -> DataLoader:
    return DataLoader(TensorDataset(wg.arange(10.0)), batch_size=batch_size)


class Recorder:
    """A bar that writes down what it is told."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, dict[str, Any]]] = []
        self.closed = False

    def update(self, state: wg.training.Track[Any]) -> None:
        self.seen.append((state.steps, dict(state.values)))

    def close(self, state: wg.training.Track[Any]) -> None:
        self.closed = True


@pytest.fixture
def bar(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(progress, "_open_bar", lambda state: recorder)
    return recorder


def test_the_loop_is_the_loop() -> None:
    assert list(wg.track([3, 1, 2])) == [3, 1, 2]
    assert [x.tolist() for (x,) in wg.track(loader())] == [x.tolist() for (x,) in loader()]
    assert len(wg.track(loader())) == 3
    assert list(enumerate(wg.track("ab", "letters"))) == [(0, "a"), (1, "b")]


def test_quiet_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    for _ in (bar := wg.track(range(3))):
        bar.log(loss=1.0)
    assert capfd.readouterr() == ("", "")


def test_values_are_remembered() -> None:
    for batch in (bar := wg.track(loader())):
        bar.log(loss=batch[0].mean(), phase="warm")
    assert bar.values == {"loss": 8.5, "phase": "warm"}
    assert bar.mean("loss") == pytest.approx((1.5 + 5.5 + 8.5) / 3)
    for _ in bar:
        break
    assert bar.values == {}, "a new loop starts with nothing"


def test_counts_samples_of_a_loader_and_steps_of_anything_else() -> None:
    for _ in (bar := wg.track(loader())):
        pass
    assert (bar.unit, bar.steps, bar.samples) == ("samples", 3, 10)
    assert bar.rate == pytest.approx(10 / bar.seconds)
    for _ in (bar := wg.track(range(5))):
        time.sleep(0.001)
    assert (bar.unit, bar.steps) == ("steps", 5)
    assert bar.rate == pytest.approx(5 / bar.seconds)
    assert repr(bar).startswith("<track: 5 of 5 steps in 0.")


def test_length_that_nobody_knows() -> None:
    bar = wg.track(iter("abc"))
    assert bar.total is None
    with pytest.raises(TypeError, match="does not know its length"):
        len(bar)
    assert len(wg.track(iter("abc"), total=3)) == 3


def test_bar_follows_the_loop(bar: Recorder) -> None:
    for step in (tracked := wg.track(range(2))):
        tracked.log(loss=float(step))
    assert bar.seen == [
        (0, {"loss": 0.0}),
        (1, {"loss": 0.0}),
        (1, {"loss": 1.0}),
        (2, {"loss": 1.0}),
    ]
    assert bar.closed
    assert not tracked.running


def test_bar_closes_on_break(bar: Recorder) -> None:
    for step in (tracked := wg.track(range(9))):
        assert tracked.running
        if step == 3:
            break
    assert bar.closed
    assert tracked.steps == 3


def test_bar_closes_on_an_error_in_the_body(bar: Recorder) -> None:
    try:
        for _ in wg.track(range(9)):
            raise KeyError("body")
    except KeyError:
        assert bar.closed, "before the handler runs"
    else:
        pytest.fail("the error is the user's to see")


def test_bar_closes_on_an_error_in_the_data(bar: Recorder) -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        list(wg.track(broken()))
    assert bar.closed


def test_what_cannot_be_logged() -> None:
    bar = wg.track(range(3))
    with pytest.raises(TypeError, match=r"log\(loss=float32\[2\]\)\n  cause: only single numbers"):
        bar.log(loss=wg.ones(2))
    with pytest.raises(KeyError, match="no number was logged under this name"):
        bar.mean("loss")


PROGRAM = """\
import sys, time
{before}
import whygrad as wg
for epoch in (outer := wg.track(range(2), "epochs")):
    for x in (bar := wg.track(range(5), "inside")):
        time.sleep(0.03)
        bar.log(loss=0.5)
    print("printed", epoch)
try:
    for x in wg.track(range(100), "failing"):
        time.sleep(0.03)
        if x == 5:
            raise ValueError
except ValueError:
    pass
print("last")
"""


def in_a_terminal(program: str) -> str:
    """What a program writes to a terminal."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    running = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program],
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert running.wait(timeout=60) == 0, shown
    return shown.decode()


def test_in_a_terminal() -> None:
    shown = in_a_terminal(PROGRAM.format(before=""))
    for text in ("epochs", "inside", "failing", "/5", "2/2", "steps/s", "loss 0.5", "printed 1"):
        assert text in shown, text
    after_error = shown.rpartition("failing")[2]
    assert "5/100" in after_error, "how far it was stays on the screen"
    assert after_error.index("\x1b[?25h") < after_error.index("last"), "the cursor is back"


def test_a_bar_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in (bar := wg.track(loader(), "asked", show=True)):
        bar.log(loss=0.25, step="first")
    shown = capsys.readouterr().err
    for text in ("asked", "3/3", "samples/s", "loss 0.25", "step first"):
        assert text in shown, text


def test_or_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    list(wg.track(range(3), show=False))
    assert terminal.getvalue() == ""


def test_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    display = ModuleType("IPython.display")
    handle = SimpleNamespace(update=shown.append)
    display.HTML = lambda text: text  # type: ignore[attr-defined]
    display.display = lambda text, display_id: shown.append(text) or handle  # type: ignore[attr-defined, func-returns-value]
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(notebook_bar, "time", SimpleNamespace(monotonic=lambda: clock.now))
    for _ in (bar := wg.track(range(30), "<epoch>")):
        bar.log(loss=0.5)
        clock.now += 0.04
    assert '<progress value="0" max="30">' in shown[0]
    assert '<progress value="30" max="30">' in shown[-1]
    assert "&lt;epoch&gt;" in shown[-1]
    assert "loss 0.5" in shown[-1]
    assert 5 < len(shown) < 15, "ten times a second is enough"
    assert any(" left" in text for text in shown)


def test_in_a_notebook_without_a_length() -> None:
    assert (
        notebook_bar.line(wg.track(iter("abc"), "letters"))
        == "<progress></progress> <code>letters  0  0:00</code>"
    )


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (throughput(1234.5, "samples"), "1,234 samples/s"),
        (throughput(0.123, "steps"), "0.12 steps/s"),
        (duration(7.4), "0:07"),
        (duration(754), "12:34"),
        (duration(3723), "1:02:03"),
    ],
)
def test_wording(made: str, expected: str) -> None:
    assert made == expected
