"""What a learner's program may not do while it is graded.

An audit hook hears of every act before it happens and cannot be taken off again.  It keeps honest
mistakes and mischief away from the learner's files and from the answers.  It is a guard rail and
not a prison: whoever wants to break out of Python's own process will.  What makes the grading sound
does not depend on it: the answers are never in this process.

The child of :mod:`whygrad.learn.lab.sandbox` executes this file with built-ins of its own, and the
hook uses nothing but what was bound when it was armed: neither ``builtins.isinstance = …`` nor the
globals that the traceback of a refusal shows are of any use against it.
"""

from __future__ import annotations

import errno
import functools
import importlib.util
import os
import stat
import sys
import sysconfig
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["Forbidden", "ForbiddenImport", "arm"]

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

# Acts on paths: where the event has the path and the folder it is relative to.
_ACTS: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.chflags": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((0, 2), (1, 3)),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, None),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, None),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
    "sqlite3.connect": ((0, None),),
}
_ON_THE_LINK_ITSELF = ("os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink")
_PROCESSES = (
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system",
    "pty.spawn", "subprocess.Popen", "_winapi.CreateProcess", "webbrowser.open",
)  # fmt: skip
# Below Python, or where no hook listens.
_REACHING = ("cpython.PyInterpreterState_New", "ctypes.", "gc.get_", "syslog.", "winreg.")
# Modules that write from C without telling anybody.
_UNHEARD = (
    "_dbm", "_gdbm", "_interpreters", "_posixshmem", "_testcapi", "_xxsubinterpreters", "readline",
)  # fmt: skip
# Functions without an event of their own.
_SILENT = (
    ("_posixsubprocess", "fork_exec"), ("subprocess", "_fork_exec"),
    ("_signal", "pidfd_send_signal"), ("signal", "pidfd_send_signal"),
    ("posix", "mkfifo"), ("os", "mkfifo"), ("posix", "mknod"), ("os", "mknod"),
)  # fmt: skip
_MOST_LINKS = 40


class Forbidden(PermissionError):
    """An act that grading does not allow; ``act`` and ``detail`` say which."""

    act: str
    detail: str


class ForbiddenImport(ImportError):
    """A module that this lab does without."""

    act: str
    detail: str


def arm(root: str, secret: Iterable[str], banned: Iterable[str], trusted: Iterable[str]) -> None:
    """Forbid what lies outside ``root`` and what would give the answers away, for good.

    ``secret`` are folders that are not to be read; ``banned`` are modules that are neither to be
    imported nor to be read; the libraries in ``trusted`` may reach below Python.
    """
    acts, on_the_link, processes = dict(_ACTS), _ON_THE_LINK_ITSELF, _PROCESSES
    reaching, unheard, writing = _REACHING, _UNHEARD, _WRITING
    is_a, some, text_type, number_type, system_error = isinstance, any, str, int, OSError
    status, is_folder, from_bytes = os.stat, stat.S_ISDIR, os.fsdecode
    caller, own_pid = sys._getframe, os.getpid()
    separator, nothing = os.sep, os.devnull
    names = tuple(banned)
    resolve, read_link = _resolver(), getattr(os, "readlink", None)
    kinds = {"import": ForbiddenImport}
    general = Forbidden

    root = resolve(root)
    hidden = (*(resolve(each) for each in secret), *map(resolve, _places(names)))
    installed = {*sysconfig.get_paths().values(), sys.base_prefix, *trusted}
    libraries = tuple(map(resolve, installed))
    foreign = resolve(os.path.join(sysconfig.get_paths()["stdlib"], "ctypes"))

    def refusal(act: str, detail: str) -> Forbidden | ForbiddenImport:
        error = kinds.get(act, general)(f"not allowed while a lab is graded: {act} {detail}")
        error.act, error.detail = act, detail
        return error

    def inside(path: str, folder: str) -> bool:
        return path == folder or path.startswith(folder + separator)

    def opened_as(descriptor: int) -> str:
        if read_link is None:
            raise refusal("open", f"descriptor {descriptor}")
        return read_link(f"/proc/self/fd/{descriptor:d}")

    def target_of(path: Any, folder: Any = None, *, of_link: bool = False) -> str:
        """Where a path leads; an exact string, whatever class it was handed over as."""
        if is_a(path, number_type):
            return resolve(opened_as(path))
        text = text_type.__str__(path) if is_a(path, text_type) else from_bytes(path)
        if is_a(folder, number_type) and folder >= 0 and not text.startswith(separator):
            text = opened_as(folder) + separator + text
        if of_link:
            above, slash, name = text.rstrip(separator).rpartition(separator)
            if name not in ("", ".", ".."):
                return resolve(above + slash or ".") + separator + name
        return resolve(text)

    def is_folder_there(path: str) -> bool:
        try:
            return is_folder(status(path).st_mode)
        except system_error:
            return False

    def of_another_process(path: str) -> bool:
        parts = path.split("/")
        if parts[:2] != ["", "proc"] or not parts[2:] or not parts[2].isdigit():
            return False
        return parts[2] != f"{own_pid}" or parts[-1] == "mem"

    def on_open(path: Any, mode: Any, flags: Any) -> None:
        if is_a(path, number_type):
            return  # open already
        target = target_of(path)
        writes = is_a(flags, number_type) and flags & writing != 0
        if writes or (is_a(mode, text_type) and some(sign in mode for sign in "wax+")):
            if not inside(target, root) and target != nothing:
                raise refusal("write", target)
        elif some(inside(target, each) for each in hidden) or of_another_process(target):
            raise refusal("read", target)
        elif mode is None and not inside(target, root) and is_folder_there(target):
            raise refusal("open", target)  # files could be reached through it unheard

    def on_act(event: str, arguments: tuple[Any, ...]) -> None:
        for at, folder_at in acts[event]:
            path = arguments[at]
            if event == "sqlite3.connect" and path == ":memory:":
                continue
            folder = None if folder_at is None else arguments[folder_at]
            try:
                target = target_of(path, folder, of_link=event in on_the_link)
            except system_error:
                raise refusal(event, f"{path!r:.80}") from None
            if not inside(target, root):
                raise refusal(event, target)

    def by_a_library() -> bool:
        """Whether the code that reaches below Python is an installed package's."""
        frame = caller(2)  # beyond this function and the hook
        file = frame.f_code.co_filename
        while frame.f_back and (inside(file, foreign) or file.startswith("<frozen importlib")):
            frame = frame.f_back
            file = frame.f_code.co_filename
        return not inside(file, root) and some(inside(file, each) for each in libraries)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            on_open(*arguments)
        elif event == "import":
            name = arguments[0]
            if name in unheard or some(
                name == each or name.startswith(each + ".") for each in names
            ):
                raise refusal("import", name)
        elif event in acts:
            on_act(event, arguments)
        elif event in processes:
            raise refusal("process", event)
        elif event in ("os.kill", "os.killpg"):
            if event == "os.killpg" or arguments[0] != own_pid:
                raise refusal("signal", event)
        elif event.startswith("socket.") and event != "socket.gethostname":
            raise refusal("network", event)
        elif event.startswith(reaching) and not by_a_library():
            raise refusal("reach", event)
        elif event.startswith("resource."):
            raise refusal("limit", event)

    for module, name in _SILENT:
        _silence(module, name, functools.partial(refusal, "process", name))
    sys.addaudithook(hook)


def _resolver() -> Callable[[str], str]:
    """``os.path.realpath`` of functions bound now, so that no other ``os`` changes the answer."""
    if os.name != "posix":
        return os.path.realpath
    read_link, here, failed = os.readlink, os.getcwd, OSError
    most_links, circle = _MOST_LINKS, errno.ELOOP

    def resolve(path: str) -> str:
        waiting = (path if path.startswith("/") else f"{here()}/{path}").split("/")[::-1]
        out, links = "", 0
        while waiting:
            part = waiting.pop()
            if part == "..":
                out = out.rpartition("/")[0]
            elif part not in ("", "."):
                try:
                    link = read_link(f"{out}/{part}")
                except failed:  # a file, a folder, or nothing yet
                    out = f"{out}/{part}"
                    continue
                links += 1
                if links > most_links:
                    raise failed(circle, "too many levels of symbolic links")
                waiting += link.split("/")[::-1]
                out = "" if link.startswith("/") else out
        return out or "/"

    return resolve


def _places(modules: Iterable[str]) -> list[str]:
    """The folders of installed packages, found without importing them.

    To find ``a.b``, Python would import ``a``.
    """
    places: list[str] = []
    for name in (each for each in modules if "." not in each):
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            continue
        if spec is not None:
            found = list(spec.submodule_search_locations or ())
            places += [each for each in found or [spec.origin or ""] if each]
    return places


def _silence(module: str, name: str, refusal: Callable[[], Exception]) -> None:
    """Replace a function that has no event."""
    if module in ("_posixsubprocess", "_signal", "posix"):
        try:
            __import__(module)
        except ImportError:
            return

    def refused(*_: object, **__: object) -> None:
        raise refusal()

    if hasattr(sys.modules.get(module), name):
        setattr(sys.modules[module], name, refused)
