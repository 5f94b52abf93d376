"""``whygrad doctor``: the program's own output and exit code first, then the report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.interrupts import command, interrupt
from whygrad.cli.commands import cli
from whygrad.doctor.rules.rule import rules

LOOP = """
import sys
import whygrad as torch
from whygrad import nn, optim

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 3)
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    {zero}
    loss.backward()
    optimizer.step()
    {inside}
print(f"{{loss.item():.6f}}", sys.argv[1:])
{after}
"""


def written(folder: Path, source: str, name: str = "train.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(source).lstrip(), encoding="utf-8")
    return path


def loop(
    folder: Path, zero: str = "optimizer.zero_grad()", inside: str = "", after: str = ""
) -> Path:
    return written(folder, LOOP.format(zero=zero, inside=inside, after=after))


def python(*arguments: object, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "80"},
    )


def doctor(*arguments: object, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return python("-m", "whygrad", "doctor", *arguments, cwd=cwd, stdin=stdin)


def asked(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["doctor", *map(str, arguments)])


# --- a run ----------------------------------------------------------------------------------------


def test_output_and_arguments_are_the_scripts_own(tmp_path: Path) -> None:
    script = loop(tmp_path)
    arguments = ("--lr", "0.1", "-h", "--json", "x.json", "--", "more")
    plain = python(script.name, *arguments, cwd=tmp_path)
    seen = doctor(script.name, *arguments, cwd=tmp_path)
    assert seen.stdout == plain.stdout
    assert "--lr" in seen.stdout
    assert seen.returncode == plain.returncode == 0
    assert "Nothing wrong" in seen.stderr
    assert not (tmp_path / "x.json").exists()


def test_reports_are_written_in_every_format(tmp_path: Path) -> None:
    script = loop(tmp_path, zero="pass")
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "html", "markdown")}
    options = [each for kind, path in files.items() for each in (f"--{kind}", path)]
    seen = asked(*options, "--exit-code", script)
    assert seen.exit_code == 1
    facts = json.loads(files["json"].read_text(encoding="utf-8"))
    assert facts["schema"] == 2
    assert facts["status"] == "sick"
    assert facts["verdict"]["rule"] == "missing-zero-grad"
    assert facts["verdict"]["file"].endswith("train.py")
    assert "<html" in files["html"].read_text(encoding="utf-8")
    assert "missing-zero-grad" in files["markdown"].read_text(encoding="utf-8")
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "report.html", "report.json", "report.markdown", "train.py",
    ]  # fmt: skip


def test_exit_code_only_when_asked_for_and_only_when_sick(tmp_path: Path) -> None:
    sick = loop(tmp_path, zero="pass")
    assert asked(sick).exit_code == 0
    assert asked("--ignore", "missing-zero-grad", "--ignore", "lr-too-high", "--exit-code",
                 loop(tmp_path)).exit_code == 0  # fmt: skip


def test_rules_can_be_ignored(tmp_path: Path) -> None:
    seen = asked("--ignore", "missing-zero-grad", loop(tmp_path, zero="pass"))
    assert "missing-zero-grad" not in seen.output


def test_thresholds_hold_for_one_run(tmp_path: Path) -> None:
    rule = next(each for each in _loaded_rules() if each.thresholds)
    name, value = next(iter(rule.thresholds.items()))
    assert asked("--threshold", f"{rule.id}.{name}=123", loop(tmp_path)).exit_code == 0
    assert rules[rule.id].thresholds[name] == value
    for wrong, words in (
        (f"{rule.id}.{name}", "write rule.name=number"),
        (f"{rule.id}.nothing=1", "there is no 'nothing'"),
        ("dead-rel.dead=1", "did you mean dead-relu?"),
    ):
        seen = asked("--threshold", wrong, loop(tmp_path))
        assert seen.exit_code == 2
        assert words in seen.output


def _loaded_rules() -> list[object]:
    from whygrad.doctor.rules import load

    load()
    return list(rules.values())


def test_rules_are_listed_and_explained() -> None:
    listed = asked("--list-rules")
    assert listed.exit_code == 0
    assert "missing-zero-grad" in listed.output
    page = asked("--explain", "missing-zero-grad")
    for word in ("measured", "fix", "guardrail", "zero_grad"):
        assert word in page.output
    assert asked("--explain", "nothing-such").exit_code == 2


# --- a module -------------------------------------------------------------------------------------


def test_modules_run_as_python_m_runs_them(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    written(package, "", "__init__.py")
    written(package, "VALUE = 7", "near.py")
    written(package, """
        import sys
        from . import near
        print(near.VALUE, __name__, __package__, __spec__.name, sys.argv[1:], sys.path[0])
        print(sys.argv[0] == __file__)
    """, "job.py")  # fmt: skip
    written(package, "print('main', __spec__.name)", "__main__.py")
    for name in ("pack.job", "pack"):
        plain = python("-m", name, "--lr", "1", cwd=tmp_path)
        seen = doctor("-m", name, "--lr", "1", cwd=tmp_path)
        assert seen.stdout == plain.stdout
        assert plain.stdout
    seen = doctor("-m", "pack.nothing", cwd=tmp_path)
    assert seen.returncode == 2
    assert "there is no such module" in seen.stderr


# --- what cannot be run ---------------------------------------------------------------------------


def test_what_cannot_be_run_is_refused_before_anything_happens(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    notebook = written(tmp_path, "{}", "book.ipynb")
    binary = tmp_path / "model.py"
    binary.write_bytes(b"\x80\0\1")
    for script, words in (
        (tmp_path / "none.py", "the script cannot be read: no such file"),
        (tmp_path, "this is a folder"),
        (notebook, "this is a notebook"),
        (binary, "this is not Python source"),
    ):
        seen = asked("--json", target, script)
        assert seen.exit_code == 2, script
        assert words in seen.output
    seen = asked("--json", target, written(tmp_path, "print('ran')\nx = (", "half.py"))
    assert seen.exit_code == 1
    assert "half.py" in seen.output
    assert "'(' was never closed" in seen.output
    assert "ran" not in seen.output.splitlines()
    assert asked().exit_code == 2
    assert not target.exists()


def test_reports_that_cannot_be_written_are_refused_before_anything_happens(tmp_path: Path) -> None:
    script = written(tmp_path, "print('ran')")
    for options, words in (
        (("--json", tmp_path / "no" / "x.json"), "there is no folder"),
        (("--html", tmp_path), "this is a folder"),
        (("--markdown", script), "this is the program itself"),
        (("--json", "same", "--html", "same"), "goes there already"),
    ):
        seen = asked(*options, script)
        assert seen.exit_code == 2
        assert words in seen.output
        assert "ran" not in seen.output.splitlines()


# --- how programs end -----------------------------------------------------------------------------


def test_a_crash_prints_what_python_prints(tmp_path: Path) -> None:
    script = loop(tmp_path, after="""
def inner():
    try:
        {}["key"]
    except KeyError as error:
        raise ValueError("at the end") from error

class Net(nn.Module):
    def forward(self, x):
        return nn.functional.mse_loss(inner(), x)

Net()(x)
""")  # fmt: skip
    plain = python(script.name, cwd=tmp_path)
    seen = doctor(script.name, cwd=tmp_path)
    assert seen.stdout == plain.stdout
    assert seen.stderr.startswith(plain.stderr)
    assert "ValueError: at the end" in plain.stderr
    assert seen.returncode == 1
    assert "The program ended with ValueError, and no rule knows why" in seen.stderr
    assert "✓" not in seen.stderr


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("sys.exit(3)", 3),
        ("sys.exit()", 0),
        ("sys.exit('bad news')", 1),
        ("raise SystemExit(7)", 7),
    ],
)
def test_exit_codes_are_the_programs(end: str, code: int, tmp_path: Path) -> None:
    script = loop(tmp_path, after=end)
    plain = python(script.name, cwd=tmp_path)
    seen = doctor(script.name, cwd=tmp_path)
    assert seen.returncode == plain.returncode == code
    assert seen.stdout == plain.stdout
    assert seen.stderr.startswith(plain.stderr)
    assert ("✓ Nothing wrong" in seen.stderr) is (code == 0)


def test_ctrl_c_in_the_middle_of_a_step(tmp_path: Path) -> None:
    waiting = "step == 20 and (print('now', flush=True), __import__('time').sleep(60))"
    script = loop(tmp_path, zero="pass", inside=waiting)
    target = tmp_path / "report.json"
    running = subprocess.Popen(
        command(sys.executable, "-m", "whygrad", "doctor", "--json", str(target), str(script)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "now\n"
    time.sleep(0.2)
    interrupt(running)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "KeyboardInterrupt" in stderr
    assert "whygrad/doctor" not in stderr.partition("KeyboardInterrupt")[0]
    facts = json.loads(target.read_text(encoding="utf-8"))
    assert facts["verdict"]["rule"] == "missing-zero-grad"


def test_a_program_that_never_trains(tmp_path: Path) -> None:
    seen = doctor(written(tmp_path, "print('hello')"), cwd=tmp_path)
    assert seen.stdout == "hello\n"
    assert seen.returncode == 0
    assert "never called backward()" in seen.stderr


def test_what_runs_on_after_the_last_line(tmp_path: Path) -> None:
    script = written(tmp_path, """
        import atexit, pickle, threading, time
        class Thing:
            pass
        def late():
            time.sleep(0.2)
            print(pickle.loads(pickle.dumps(Thing())).__class__.__module__, flush=True)
        atexit.register(late)
        threading.Thread(target=late).start()
        print("end", flush=True)
    """)  # fmt: skip
    seen = doctor(script, cwd=tmp_path)
    assert seen.stdout.split() == ["end", "__main__", "__main__"]
    assert "never called backward()" in seen.stderr


def test_processes_that_the_program_starts(tmp_path: Path) -> None:
    script = written(tmp_path, """
        import multiprocessing, os, sys
        import whygrad as wg

        def work(number):
            return (wg.ones(2) * number).sum().item()

        if __name__ == "__main__":
            for way in ("fork", "spawn"):
                with multiprocessing.get_context(way).Pool(2) as pool:
                    print(pool.map(work, range(4)), flush=True)
            child = os.fork()
            if child == 0:
                sys.exit(0)
            os.waitpid(child, 0)
    """)  # fmt: skip
    seen = doctor(script, cwd=tmp_path)
    assert seen.stdout == "[0.0, 2.0, 4.0, 6.0]\n" * 2
    assert seen.stderr.count("never called backward()") == 1


def test_surroundings_are_those_of_python(tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    written(folder, "NAME = 'neighbour'", "beside.py")
    script = written(folder, """
        import inspect, sys
        from dataclasses import dataclass
        import beside

        @dataclass
        class Point:
            x: int

        def here():
            pass

        print(beside.NAME, sys.argv, sys.path[0], __file__, __name__, __spec__, __package__)
        print(sorted(name for name in globals() if name.startswith("__")))
        print(inspect.getsource(here), inspect.getsource(Point), Point.__annotations__)
        print(input())
    """)  # fmt: skip
    plain = python("deep/train.py", "a", cwd=tmp_path, stdin="typed\n")
    seen = doctor("deep/train.py", "a", cwd=tmp_path, stdin="typed\n")
    assert script.exists()
    assert plain.returncode == 0, plain.stderr
    assert seen.stdout == plain.stdout
    assert "<class 'int'>" in plain.stdout, "annotations are what the script's own compiler makes"


def test_a_package_that_is_looked_for_before_it_is_imported(tmp_path: Path) -> None:
    """Libraries ask whether PyTorch is installed before they import it."""
    pytest.importorskip("torch")
    looked_for = "import importlib.util\nassert importlib.util.find_spec('torch') is not None\n"
    path = loop(tmp_path)
    text = path.read_text(encoding="utf-8").replace("whygrad as torch", "torch")
    text = text.replace("from whygrad import nn, optim", "from torch import nn, optim")
    path.write_text(looked_for + text, encoding="utf-8")
    doctor("--json", "report.json", path, cwd=tmp_path)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (report["engine"], report["steps"]) == ("torch", 30)
