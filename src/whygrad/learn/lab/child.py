"""The process in which a learner's program runs; a script of its own, never imported by the grader.

The job comes through stdin.  Replies leave through what was stdout, one line of JSON each; what the
program prints goes to stderr.  The lab's probes are loaded first, with whatever libraries they
import; then the guard is armed; only then is a line of the learner's executed.  After the last
reply the process ends on the spot: no exit handler and no thread gets another turn.

Started with a socket and the place of the probes, this is a template: it loads the probes and
forks for each job, before it has come (:mod:`whygrad.learn.lab.processes`).

Everything here runs with built-ins of its own: ``builtins.len = None`` does not reach it.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

__all__ = ["Learner"]

_LONGEST_MESSAGE = 2_000


class Learner:
    """What a probe receives: the learner's modules, and results as plain data."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def module(self, name: str) -> ModuleType:
        """A module of the learner's, executed at the first call."""
        return importlib.import_module(name)

    def source(self, file: str) -> str:
        """The text of one of the learner's files."""
        with open(os.path.join(self.folder, file), encoding="utf-8") as stream:
            return stream.read()

    def plain(self, value: Any) -> Any:
        """Numbers, texts, lists and dicts as JSON has them; arrays and tensors become lists."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, (list, tuple)):
            return [self.plain(each) for each in value]
        if isinstance(value, dict):
            return {str(key): self.plain(each) for key, each in value.items()}
        if isinstance(value, float):
            return float.__float__(value)
        home = type(value).__module__.partition(".")[0]
        if home in ("numpy", "torch", "whygrad") and hasattr(value, "tolist"):
            value = value.detach() if hasattr(value, "detach") else value
            return value.tolist()
        raise TypeError(f"a number was expected here, not {type(value).__name__}: {value!r:.80}")


class _LabModules:
    """Finds the lab's own files before anything installed under the same name."""

    def __init__(self, folder: str, names: Sequence[str]) -> None:
        self.files = {name: os.path.join(folder, f"{name}.py") for name in names}

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        file = self.files.get(name)
        return None if file is None else importlib.util.spec_from_file_location(name, file)


def main() -> None:
    loaded = None
    if len(sys.argv) > 1:
        loaded = _load(*json.loads(sys.argv[2]))
        _fork_for_each_job(int(sys.argv[1]))
    job = json.loads(sys.stdin.buffer.read())
    send = _channel()
    _limit(job["seconds"], job["megabytes"])
    os.environ.update(job["environment"])
    folder = os.path.realpath(job["folder"])
    os.chdir(folder)
    guard, probes = loaded or _load(job["probes"], job["paths"])
    probe = _found(job["probe"], probes)
    sys.path.append(folder)
    sys.meta_path.insert(0, _LabModules(folder, job["modules"]))
    finish, learner = os._exit, Learner(folder)
    describe = _describer(folder, guard)
    guard["arm"](job["root"], job["secret"], job["banned"], job["trusted"])
    send({"ready": True})
    for number, inputs in enumerate(job["cases"]):
        try:
            send({"case": number, "value": probe(learner, **inputs)})
        except BaseException as error:
            send({"case": number, "error": describe(error)})
    send({"done": True})
    finish(0)


def _load(file: str, paths: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is in the guard and in the probes."""
    sys.path += [each for each in paths if each not in sys.path]
    guard: dict[str, Any] = {"__builtins__": dict(vars(builtins)), "__name__": "whygrad_lab_guard"}
    _execute(os.path.join(os.path.dirname(__file__), "guard.py"), guard)
    probes: dict[str, Any] = {"__name__": "whygrad_lab_probes"}
    _execute(file, probes)
    return guard, probes


def _fork_for_each_job(descriptor: int) -> None:
    """Be the template; what returns is a fork with a session, stdin, stdout and stderr of its own.

    An ended fork is let go only when the other side says so: until then, nobody has its number.
    """
    import socket

    line = socket.socket(fileno=descriptor)

    def send(number: int) -> None:
        line.sendall(number.to_bytes(8, "little", signed=True))

    while True:
        _, ends, _, _ = socket.recv_fds(line, 1, 3)
        if not ends:
            os._exit(0)
        child = os.fork()
        if not child:
            break
        for end in ends:
            os.close(end)
        send(child)
        ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        assert ended is not None
        send(ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)
        line.recv(1)
        os.waitpid(child, 0)
        send(0)
    os.setsid()
    line.close()
    for place, end in enumerate(ends):
        os.dup2(end, place)
        os.close(end)
    for name in ("numpy.random", "torch.random", "whygrad.random"):
        if name in sys.modules:
            sys.modules[name].seed()  # numbers that the learner does not seed are new ones
    del sys.argv[1:]


def _execute(file: str, namespace: dict[str, Any]) -> None:
    with open(file, encoding="utf-8") as stream:
        exec(compile(stream.read(), file, "exec"), namespace)


def _found(name: str, probes: dict[str, Any]) -> Callable[..., Any]:
    if name not in probes:
        known = ", ".join(each for each in probes if each[0] != "_" and callable(probes[each]))
        raise LookupError(f"the grader asks for {name!r}, and probes.py has {known or 'nothing'}")
    return probes[name]


def _channel() -> Callable[[dict[str, Any]], None]:
    """A way out for the replies; what the learner prints takes the other one."""
    replies = os.dup(1)
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    encode, write = json.JSONEncoder(separators=(",", ":")).encode, os.write

    def send(message: dict[str, Any]) -> None:
        line = (encode(message) + "\n").encode()
        while line:
            line = line[write(replies, line) :]

    return send


def _limit(seconds: float, megabytes: int) -> None:
    """Processor time, memory and the size of files, where the system can limit them."""
    try:
        import resource
        import signal
    except ImportError:
        return
    wishes = {
        "RLIMIT_CPU": int(seconds) + 30,  # the parent's clock comes first, but for loading
        "RLIMIT_AS": megabytes << 20,
        "RLIMIT_FSIZE": 64 << 20,
        "RLIMIT_CORE": 0,
    }
    signal.alarm(int(seconds) + 120)  # should the parent be gone before it can end this process
    for name, wish in wishes.items():
        try:
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            most = wish if hard == resource.RLIM_INFINITY else min(wish, hard)
            resource.setrlimit(kind, (most, most))
        except (AttributeError, OSError, ValueError):
            continue


def _describer(folder: str, guard: dict[str, Any]) -> Callable[[BaseException], dict[str, Any]]:
    forbidden = (guard["Forbidden"], guard["ForbiddenImport"])
    beginning = folder + os.sep

    def own_line(error: BaseException) -> dict[str, Any]:
        """Where the exception passed the learner's files last."""
        found: dict[str, Any] = {}
        trace = error.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if file.startswith(beginning):
                found = {"file": file[len(beginning) :], "line": trace.tb_lineno}
            trace = trace.tb_next
        return found

    def described(error: BaseException) -> dict[str, Any]:
        facts: dict[str, Any] = {"kind": "exception", "type": type(error).__name__}
        facts["message"] = str(error)[:_LONGEST_MESSAGE]
        facts.update(own_line(error))
        if isinstance(error, forbidden):
            facts.update(kind="forbidden", act=error.act, detail=error.detail)
        elif isinstance(error, SystemExit):
            facts["kind"] = "exit"
        elif isinstance(error, NotImplementedError):
            facts["kind"] = "todo"
        elif isinstance(error, SyntaxError) and (error.filename or beginning).startswith(beginning):
            facts.update(kind="syntax", message=error.msg)
            if error.filename:
                facts.update(
                    file=error.filename[len(beginning) :], line=error.lineno, column=error.offset
                )
        return facts

    def describe(error: BaseException) -> dict[str, Any]:
        try:
            return described(error)
        except BaseException:  # its own __str__ fails, or the learner broke what is used here
            return {"kind": "exception", "type": "an exception that cannot be shown", "message": ""}

    return describe


if __name__ == "__main__":
    _alone: dict[str, Any] = {"__builtins__": dict(vars(builtins)), "__name__": "whygrad_lab_child"}
    _alone["__file__"] = os.path.abspath(__file__)
    _execute(_alone["__file__"], _alone)
    _alone["main"]()
