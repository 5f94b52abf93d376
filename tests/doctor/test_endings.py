"""However a program ends, there is a report, and it ends as it would have ended alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import whygrad
from tests.doctor.test_command import loop, written
from tests.interrupts import command
from whygrad.cli import last_state, signals
from whygrad.cli.commands import cli
from whygrad.doctor import run_script, watch
from whygrad.recording.replay import runner

ENDLESS = """
import atexit, os, signal, sys, threading
import whygrad as torch

atexit.register(print, "atexit")
print([signal.getsignal(each) == signal.SIG_DFL for each in (signal.SIGTERM, signal.SIGHUP)])
child = os.fork()
if not child:
    import _signal
    print(_signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, flush=True)
    os._exit(0)
os.waitpid(child, 0)
signal.signal(signal.SIGTERM, lambda *_: None)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
{handler}
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
step = 0
try:
    while True:
        x = torch.randn(16, 3)
        ((model(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
        optimizer.step()
        step += 1
        if step == 50:
            print("ready", flush=True)
finally:
    print("finally")
"""
POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")


def ended(folder: Path, name: str, handler: str = "") -> tuple[int, str, str]:
    """Exit code, output and report of a program that gets a signal in the midst of its training."""
    written(folder, ENDLESS.format(handler=handler))
    arguments = ["-m", "whygrad", "doctor", "--json", "report.json", "train.py"]
    process = subprocess.Popen(
        command(sys.executable, *arguments),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    output = ""
    while "ready" not in output:
        output += process.stdout.readline()
    process.send_signal(getattr(signal, name))
    rest, report = process.communicate(timeout=60)
    return process.returncode, output + rest, report


@POSIX
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_the_program(tmp_path: Path, name: str) -> None:
    code, output, report = ended(tmp_path, name)
    assert code == -getattr(signal, name)
    assert output.splitlines() == ["True", "[True, True]", "ready"] or output.splitlines() == [
        "[True, True]", "True", "ready",
    ]  # fmt: skip
    assert "missing-zero-grad" in report
    assert f"the program was ended by {name}" in report
    facts = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert facts["verdict"]["rule"] == "missing-zero-grad"


@POSIX
def test_a_handler_of_the_programs_own_goes_first(tmp_path: Path) -> None:
    handler = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))"
    code, output, report = ended(tmp_path, "SIGTERM", handler)
    assert code == 7
    assert "finally" in output
    assert "missing-zero-grad" in report


@POSIX
def test_a_signal_during_the_examination_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda _, number: sent.append(number))
    told: list[str] = []
    with signals.reporting(told.append) as ending:
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        ending(signal.SIGTERM, None)
        assert (told, sent) == (["SIGTERM"], [signal.SIGTERM])
    with signals.reporting(told.append) as ending:
        ending.examining = True
        with pytest.raises(KeyboardInterrupt):
            ending(signal.SIGTERM, None)
        ending.die()
    assert (told, sent) == (["SIGTERM"], [signal.SIGTERM] * 2)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize("end", ["sys.exit(3)", "raise MemoryError", "raise KeyboardInterrupt"])
def test_an_exception_that_ends_the_program(tmp_path: Path, end: str) -> None:
    script = loop(tmp_path, zero="pass", inside=f"if step == 25: {end}")
    outcome = run_script(str(script))
    assert outcome.diagnosis.verdict is not None
    assert outcome.diagnosis.verdict.rule == "missing-zero-grad"


@pytest.mark.parametrize("where", ["__init__", "run"])
@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_no_memory_for_the_examination(
    monkeypatch: pytest.MonkeyPatch, error: Exception, where: str
) -> None:
    """There is a report, and rules that need no replay speak in it."""

    def exhausted(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(runner._Runner, where, exhausted)
    for clears in (False, True):
        whygrad.manual_seed(0)
        model = whygrad.nn.Linear(3, 1)
        optimizer = whygrad.optim.SGD(model.parameters(), lr=0.01)
        with watch(model, optimizer) as doc:
            for _ in range(30):
                x = whygrad.randn(16, 3)
                if clears:
                    optimizer.zero_grad()
                ((model(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
                optimizer.step()
        verdict = doc.verdict
        if clears:
            assert verdict is None or verdict.rule != "missing-zero-grad"
        else:
            assert verdict is not None
            assert verdict.rule == "missing-zero-grad"
        assert "✓" not in doc.report()


def test_a_program_that_ends_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    times = iter(range(0, 10_000, 2))
    script = loop(tmp_path, inside="")
    session = watch()
    session.run.script = str(script)
    state = last_state.kept(session, lambda: float(next(times)))
    with session:
        state.__enter__()
        exec(compile(script.read_text(encoding="utf-8"), script, "exec"), {})
    (file,) = (tmp_path / "temp").glob("*/*.json")
    assert file.stat().st_mode & 0o077 == 0 or os.name != "posix"
    for name in ("latest", file):
        told = CliRunner().invoke(cli, ["doctor", "--recover", str(name)])
        assert told.exit_code == 0
        assert "is still running" in " ".join(told.output.split()) or os.name != "posix"
        assert "SGD" in told.output
    file.write_text('{"format": "another"}')
    told = CliRunner().invoke(cli, ["doctor", "--recover", str(file)])
    assert told.exit_code == 2
    assert "not a state that the doctor wrote" in told.output
    state.__exit__(None, None, None)
    told = CliRunner().invoke(cli, ["doctor", "--recover", "latest"])
    assert told.exit_code == 2
    assert "there is none" in told.output


def test_nothing_is_left_of_a_program_that_ends_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(last_state, "_EVERY", 0.0)
    assert CliRunner().invoke(cli, ["doctor", str(loop(tmp_path))]).exit_code == 0
    assert list(tmp_path.glob("whygrad-doctor-*/*")) == []


# As ``whygrad doctor train.py``, but with a state at every pass.
_STARTED = """
from whygrad.cli import last_state
from whygrad.cli.commands import cli
last_state._EVERY = 0.0
cli(["doctor", "train.py"])
"""


@POSIX
def test_what_is_known_of_a_program_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    inside = "if step == 20: print('ready', flush=True); __import__('time').sleep(600)"
    loop(tmp_path, inside=inside)
    process = subprocess.Popen(
        [sys.executable, "-c", _STARTED],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert any("ready" in line for line in process.stdout)
    finally:
        process.kill()
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    told = CliRunner().invoke(cli, ["doctor", "--recover", "latest"])
    assert told.exit_code == 0
    said = "".join(told.output.split())  # a long path may be broken anywhere
    assert "train.pyendedwithoutaword;whatwasknownat2" in said
    assert "21passes" in said
    assert "loss" in said
    assert "SGD,madeat" in said
    assert "20updates" in said or "21updates" in said


def test_a_state_that_cannot_be_written_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(last_state, "_EVERY", 0.0)
    monkeypatch.setattr(last_state, "replacing", full)
    script = loop(tmp_path)
    session = watch()
    with last_state.kept(session), session:
        exec(compile(script.read_text(encoding="utf-8"), script, "exec"), {})
    assert session.run.troubles == []
    assert len(session.run.passes) == len(session.run.courses[0].steps)
