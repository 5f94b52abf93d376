"""Programs that want to hang, fool or damage the grader."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from whygrad.learn import content
from whygrad.learn.lab.bench import Bench
from whygrad.learn.lab.catalogue import Lab
from whygrad.learn.lab.grading import Report

Run = Callable[..., Report]
PATIENCE = 12.0  # seconds of a busy machine; no program below gets more than 5
HONEST = "def double(number):\n    return 2 * number\n"


@pytest.fixture(autouse=True)
def _in_time_and_without_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No hostile program takes long, changes what is not its own, or leaves something behind."""
    valuable, copies = tmp_path / "valuable.txt", tmp_path / "copies"
    valuable.write_text("kept")
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    start = time.monotonic()
    yield
    assert time.monotonic() - start < PATIENCE
    assert valuable.read_text() == "kept"
    assert list(copies.iterdir()) == []
    assert {each.name for each in tmp_path.iterdir()} <= {
        "01_tiny", "copies", "learner", "valuable.txt"
    }  # fmt: skip


def only(report: Report) -> tuple[str, str]:
    (check,) = report.checks
    assert not report.passed
    return check.kind, check.message


def test_an_honest_program_passes(run: Run) -> None:
    assert run(HONEST).passed


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        pytest.param("while True: pass", "timeout", id="endless loop on import"),
        pytest.param("def double(n):\n  while True: pass", "timeout", id="endless loop"),
        pytest.param("import time\ndef double(n): time.sleep(1000)", "timeout", id="sleep"),
        pytest.param(
            "import signal as s\nfor n in (15, 2, 1): s.signal(n, s.SIG_IGN)\nwhile True: pass",
            "timeout",
            id="deaf to signals",
        ),
        pytest.param("import threading\nthreading.Lock().acquire()\nl = threading.Lock()\n"
                     "l.acquire(); l.acquire()", "timeout", id="deadlock"),
        pytest.param("import os\nos._exit(0)", "ended", id="os._exit on import"),
        pytest.param("import os\ndef double(n): os._exit(0)", "ended", id="os._exit"),
        pytest.param("import sys\nsys.exit(0)", "exit", id="sys.exit"),
        pytest.param("raise KeyboardInterrupt", "exception", id="interrupt"),
        pytest.param("import os\nos.kill(os.getpid(), 9)", "killed", id="dies"),
        pytest.param("def double(n): return 'x' * (1 << 25)", "answer", id="huge answer"),
        pytest.param("def double(n): return [0] * (1 << 40)", "exception", id="huge memory"),
        pytest.param("b = []\nwhile True: b.append(bytearray(1 << 24))", "exception", id="hoards"),
        pytest.param("def double(n): return object()", "exception", id="not plain"),
        pytest.param(
            "import os\nos.symlink('b', 'a')\nos.symlink('a', 'b')\nopen('a', 'w')",
            "exception",
            id="links in a circle",
        ),
        pytest.param("def double(n) return n", "syntax", id="no Python"),
        pytest.param("\x00", "syntax", id="null byte"),
        pytest.param("def double(n): return double(n)", "exception", id="recursion"),
        pytest.param(
            "class E(Exception):\n  def __str__(self): raise E\n  __repr__ = __str__\n"
            "def double(n): raise E()",
            "exception",
            id="exception that cannot be shown",
        ),
        pytest.param("import os\nos.closerange(0, 100)", "ended", id="closes everything"),
        pytest.param(
            "import os\nfor fd in range(3, 20):\n  try: os.write(fd, b'nonsense\\n')\n"
            "  except OSError: pass\nwhile True: pass",
            "garbled",
            id="nonsense on the channel",
        ),
        pytest.param(
            "import os\nfor fd in range(3, 20):\n  try: os.write(fd, b'[' * 100000 + b'\\n')\n"
            "  except OSError: pass\nwhile True: pass",
            "garbled",
            id="nesting without end",
        ),
    ],
)  # fmt: skip
def test_trouble_has_a_kind(run: Run, source: str, kind: str) -> None:
    found, message = only(run(source, seconds=0.5 if kind == "timeout" else 5.0))
    assert found == kind, message
    assert message


def test_printing_gigabytes_is_stopped_and_said(run: Run) -> None:
    kind, message = only(run("while True: print('x' * 100_000)"))
    assert kind == "output"
    assert "5 MB" in message


def test_a_little_printing_is_fine(run: Run) -> None:
    assert run("print('hello' * 1000)\n" + HONEST).passed


def test_closing_the_channel_and_going_on(run: Run) -> None:
    source = "import os, time\nos.closerange(3, 100)\ntime.sleep(100)"
    assert only(run(source, seconds=0.5))[0] == "timeout"


def test_deleting_its_own_folder_hurts_only_the_copy(run: Run, tmp_path: Path) -> None:
    source = "import os, shutil\nshutil.rmtree(os.getcwd())\n" + HONEST
    run(source)
    assert (tmp_path / "learner" / "work.py").read_text() == source


def test_changing_its_own_file_hurts_only_the_copy(run: Run, tmp_path: Path) -> None:
    source = "open(__file__, 'w').write('')\n" + HONEST
    assert run(source).passed
    assert (tmp_path / "learner" / "work.py").read_text() == source


def test_locked_folders_are_removed_too(run: Run) -> None:
    assert run(
        "import os\nos.makedirs('a/b')\nos.chmod('a/b', 0)\nos.chmod('a', 0)\n" + HONEST
    ).passed


FORBIDDEN = {
    "write": "open({valuable!r}, 'w')",
    "append": "open({valuable!r}, 'a')",
    "write by descriptor": "import os; os.open({valuable!r}, os.O_WRONLY | os.O_TRUNC)",
    "write through pathlib": "import pathlib; pathlib.Path({valuable!r}).write_text('')",
    "write by FileIO": "import io; io.FileIO({valuable!r}, 'w')",
    "a path that lies": (
        "class Path:\n  def __init__(self): self.n = 0\n"
        "  def __fspath__(self):\n    self.n += 1\n"
        "    return 'here.txt' if self.n == 1 else {valuable!r}\nimport io; io.FileIO(Path(), 'w')"
    ),
    "a text that lies": (
        "class Text(str):\n  def startswith(self, *a): return True\n  __eq__ = startswith\n"
        "  def __hash__(self): return 0\nopen(Text({valuable!r}), 'w')"
    ),
    "remove": "import os; os.remove({valuable!r})",
    "rename": "import os; os.rename({valuable!r}, 'mine')",
    "replace": "import os; open('mine', 'w'); os.replace('mine', {valuable!r})",
    "truncate": "import os; os.truncate({valuable!r}, 0)",
    "change mode": "import os; os.chmod({valuable!r}, 0)",
    "make a folder": "import os; os.mkdir({folder!r} + '/new')",
    "remove a tree": "import shutil; shutil.rmtree({folder!r})",
    "through a link": "import os; os.symlink({valuable!r}, 'link'); open('link', 'w')",
    "a second name": "import os; os.link({valuable!r}, 'same')",
    "by a folder's descriptor": (
        "import os; f = os.open({folder!r}, os.O_RDONLY); "
        "os.open('valuable.txt', os.O_WRONLY | os.O_TRUNC, dir_fd=f)"
    ),
    "a database": "import sqlite3; sqlite3.connect({valuable!r})",
    "with other built-ins": (
        "import builtins; builtins.isinstance = lambda *a: False; builtins.any = lambda *a: False\n"
        "open({valuable!r}, 'w')"
    ),
    "with another os.path": (
        "import os.path, posixpath; os.path.realpath = posixpath.realpath = lambda p, **k: "
        "os.getcwd()\nopen({valuable!r}, 'w')"
    ),
    "a process": "import subprocess; subprocess.run(['true'])",
    "a shell": "import os; os.system('true')",
    "a fork": "import os; os.fork()",
    "another program": "import os; os.execv('/bin/true', ['true'])",
    "a spawn": "import os; os.posix_spawn('/bin/true', ['true'], {{}})",
    "beneath subprocess": (
        "import _posixsubprocess as p, os\np.fork_exec([b'true'], [b'/bin/true'], True, (), None, "
        "None, -1, -1, -1, -1, -1, -1, -1, -1, False, False, 0, None, None, None, -1, None, False)"
    ),
    "multiprocessing": (
        "import multiprocessing as m; m.get_context('fork').Process(target=print).start()"
    ),
    "a socket": "import socket; socket.socket()",
    "a look-up": "import socket; socket.getaddrinfo('localhost', 80)",
    "foreign functions": "import ctypes; ctypes.CDLL(None).unlink({valuable!r}.encode())",
    "foreign functions below": "import _ctypes; _ctypes.dlopen(None, 2)",
    "a signal to the parent": "import os; os.kill(os.getppid(), 15)",
    "a signal to a group": "import os; os.killpg(os.getpgid(os.getppid()), 15)",
    "more limits": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (9999, 9999))",
    "the parent's memory": "import os; open(f'/proc/{{os.getppid()}}/mem', 'rb')",
    "all objects": "import gc; gc.get_objects()",
    "the grader": "import whygrad.learn.lab.bench",
    "the course": "from whygrad import learn",
    "the solutions": "open({solution!r})",
    "the solutions, by their loader": (
        "import importlib.util as u; s = u.spec_from_file_location('s', {solution!r}); "
        "m = u.module_from_spec(s); s.loader.exec_module(m)"
    ),
    "another interpreter": (
        "import _xxsubinterpreters as s; "
        "s.run_string(s.create(), 'open(' + repr({valuable!r}) + ', \"w\")')"
    ),
    "shared memory": (
        "from multiprocessing import shared_memory as s; s.SharedMemory(create=True, size=8)"
    ),
    "a signal by descriptor": (
        "import os, signal; signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 15)"
    ),
    "a pipe with a name": "import os; os.mkfifo({folder!r} + '/new')",
    "dots": "import os; open(os.getcwd() + '/../../../valuable.txt', 'w')",
    "a link to a folder": (
        "import os; os.symlink({folder!r}, 'up'); open('up/../' + {folder!r}[1:].split('/')[-1] "
        "+ '/valuable.txt', 'w'); open('up/valuable.txt', 'w')"
    ),
    "a removed link": "import os; os.symlink({folder!r}, 'up'); os.remove('up/valuable.txt')",
    "an attack on the guard": (
        "try: open({valuable!r}, 'w')\nexcept PermissionError as e: trace = e.__traceback__\n"
        "while trace:\n  frame, trace = trace.tb_frame, trace.tb_next\n"
        "  if 'arm' in frame.f_globals:\n"
        "    for name in list(frame.f_globals): frame.f_globals[name] = None\n"
        "    for name in list(frame.f_builtins): frame.f_builtins[name] = lambda *a: False\n"
        "open({valuable!r}, 'w')"
    ),
    "an attack on os": (
        "import os, posixpath, posix\nfor m in (os, posix, posixpath):\n"
        "  for n in ('readlink', 'lstat', 'getcwd', 'stat', '_joinrealpath'):\n"
        "    setattr(m, n, lambda *a, **k: '/')\nopen({valuable!r}, 'w')"
    ),
    "what this lab does without": "import torch",
    "a part of it": "import torch.autograd",
}  # fmt: skip


@pytest.mark.parametrize("act", FORBIDDEN)
def test_forbidden_acts(run: Run, tmp_path: Path, act: str) -> None:
    solution = content.folder() / "labs" / "01_value" / "solution" / "value.py"
    assert solution.is_file()
    names = {"valuable": str(tmp_path / "valuable.txt"), "folder": str(tmp_path)}
    source = FORBIDDEN[act].format(**names, solution=str(solution))
    kind, message = only(run(f"{source}\n{HONEST}"))
    assert kind == "forbidden", message


def test_a_forbidden_act_that_is_caught_stays_undone(run: Run, tmp_path: Path) -> None:
    source = f"try: open({str(tmp_path / 'valuable.txt')!r}, 'w')\nexcept Exception: pass\n{HONEST}"
    assert run(source).passed


def test_optional_imports_fall_back(run: Run) -> None:
    assert run(f"try: import torch\nexcept ImportError: torch = None\n{HONEST}").passed


WRONG = "def double(number):\n    return number\n"
FOOLING = {
    "an object that equals everything": (
        "class Any(int):\n  __eq__ = lambda s, o: True\n  __hash__ = int.__hash__\n"
        "  __float__ = __int__ = __index__ = lambda s: 4\ndef double(n): return Any(n)"
    ),
    "a number that lies": (
        "class F(float):\n  __eq__ = lambda s, o: True\n  __float__ = lambda s: 4.0\n"
        "  __repr__ = lambda s: '4.0'\n  __sub__ = lambda s, o: 0.0\ndef double(n): return F(n)"
    ),
    "not a number": "def double(n): return float('nan')",
    "everything at once": "def double(n): return [n, 2 * n]",
    "other json": (
        "import json, json.encoder\njson.dumps = json.JSONEncoder.encode = lambda *a, **k: '4'\n"
        "json.encoder.c_make_encoder = None\n" + WRONG
    ),
    "no stdout": "import sys\nsys.stdout = sys.stderr = sys.__stdout__ = None\n" + WRONG,
    "other built-ins": (
        "import builtins\nfor name in ('len', 'isinstance', 'type', 'float', 'enumerate', 'str'):\n"
        "  setattr(builtins, name, None)\n" + WRONG
    ),
    "exit handlers": "import atexit, os\natexit.register(os._exit, 0)\n" + WRONG,
    "a thread that stays": (
        "import threading as t, time\nt.Thread(target=time.sleep, args=(1000,)).start()\n" + WRONG
    ),
    "a thread that ends everything": (
        "import threading, os\nthreading.Timer(0.05, os._exit, (0,)).start()\n"
        "import time; time.sleep(1)\n" + WRONG
    ),
    "an own verdict": (
        "import os\nline = b'{\"case\": 0, \"value\": 4}\\n{\"done\": true}\\n'\n"
        "for fd in range(1, 20):\n  try: os.write(fd, line)\n  except OSError: pass\n" + WRONG
    ),
    "answers of another form": (
        "import os\nline = b'{\"case\": [], \"value\": {}}\\n{\"case\": 0, \"error\": 3}\\n'\n"
        "for fd in range(3, 20):\n  try: os.write(fd, line)\n  except OSError: pass\n" + WRONG
    ),
    "a patched probe": (
        "import sys\nframe = sys._getframe()\nwhile frame:\n"
        "  if 'double' in frame.f_globals: frame.f_globals['double'] = lambda *a, **k: 4\n"
        "  frame = frame.f_back\n" + WRONG
    ),
    "a trace function": "import sys\nsys.settrace(lambda *a: None)\n" + WRONG,
    "no more modules": "import sys\nsys.modules.clear()\n" + WRONG,
}  # fmt: skip


@pytest.mark.parametrize("trick", FOOLING)
def test_no_trick_passes(run: Run, trick: str) -> None:
    assert only(run(FOOLING[trick]))[1]


@pytest.mark.parametrize(
    "lasting",
    [
        "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n",
        "import atexit, time\natexit.register(time.sleep, 1000)\n",
        "import sys\nsys.stdout = sys.stderr = None\n",
        "import json\njson.dumps = None\n",
        "import os\nos._exit = None\n",
        "import sys\nsys.setrecursionlimit(10**6)\n",
    ],
)
def test_what_is_odd_but_right_passes(run: Run, lasting: str) -> None:
    assert run(lasting + HONEST).passed


def test_files_named_like_libraries_hide_nothing(run: Run) -> None:
    bad = "raise SystemExit('not the real one')"
    names = (
        "numpy",
        "json",
        "whygrad",
        "os",
        "traceback",
        "resource",
        "_posixsubprocess",
        "probes",
    )
    source = "import numpy, json\n" + HONEST
    assert run(source, **dict.fromkeys(names, bad)).passed


def test_the_command_stands_such_files_too(tmp_path: Path) -> None:
    """As a person has them: in the folder in which the command is given."""
    folder = tmp_path / "learner"
    script = Path(sys.executable).with_name("whygrad")
    environment = {**os.environ, "WHYGRAD_HOME": str(tmp_path / "learner" / "home")}
    make = [script, "lab", "start", "value", "--folder", folder, "--lang", "en"]
    subprocess.run(make, env=environment, check=True, capture_output=True)
    for name in ("json", "numpy", "whygrad", "rich"):
        (folder / f"{name}.py").write_text("raise SystemExit('not the real one')")
    (folder / "value.py").write_text("import os\nos._exit(0)")
    done = subprocess.run(
        [script, "lab", "check"], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    assert "0 of 13 checks pass" in done.stdout


def test_own_modules_are_found(run: Run) -> None:
    assert run("from helper import double", helper=HONEST).passed


def test_a_large_file_is_not_even_read(run: Run) -> None:
    kind, message = only(run("#" * (2 << 20)))
    assert kind == "large"
    assert "work.py" in message


def test_terminal_commands_are_taken_out(run: Run) -> None:
    _, message = only(run("raise ValueError('\\x1b[2J\\x07 boo')"))
    assert "\x1b" not in message
    assert "boo" in message


def test_nothing_stays_alive(run: Run) -> None:
    source = "import os, threading\nprint(os.getpid())\nwhile True: pass"
    (check,) = run(source, seconds=0.5).checks
    with pytest.raises(ProcessLookupError):
        os.kill(int(check.printed), 0)


def test_after_one_delay_the_rest_is_hurried(tiny: Lab, tmp_path: Path) -> None:
    (tmp_path / "learner").mkdir()
    (tmp_path / "learner" / "work.py").write_text("import time\ntime.sleep(1000)")
    bench = Bench(replace(tiny, seconds=3.0), tmp_path / "learner")
    taken = []
    for _ in range(2):
        start = time.monotonic()
        (reply,) = bench.replies("anything", [{}])
        taken.append(time.monotonic() - start)
        assert reply.trouble is not None
        assert reply.trouble.kind == "timeout"
    assert taken[0] >= 3.0 > taken[1]
