"""What a learner's program may not do while it is graded.

An audit hook hears of every act before it happens and cannot be taken off again.  It keeps honest
mistakes and mischief away from the learner's files and from the answers.  It is a guard rail and
not a prison: whoever wants to break out of Python's own process will.  What makes the grading sound
does not depend on it: the answers are never in this process.

The child of :mod:`whygrad.learn.lab.sandbox` executes this file with built-ins of its own, so that
``builtins.isinstance = …`` changes nothing here, and every function is bound before it is needed.
"""

from __future__ import annotations

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
# Write files from C without telling anybody.
_UNHEARD = ("_dbm", "_gdbm", "readline")


class Forbidden(PermissionError):
    """An act that grading does not allow."""

    def __init__(self, act: str, detail: str) -> None:
        super().__init__(f"not allowed while a lab is graded: {act} {detail}")
        self.act = act
        self.detail = detail


class ForbiddenImport(ImportError):
    """A module that this lab does without."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"not allowed while this lab is graded: import {detail}")
        self.act = "import"
        self.detail = detail


def arm(root: str, secret: Iterable[str], banned: Iterable[str], trusted: Iterable[str]) -> None:
    """Forbid what lies outside ``root`` and what would give the answers away, for good.

    ``secret`` are folders that are not to be read; ``banned`` are modules that are neither to be
    imported nor to be read; the libraries in ``trusted`` may use foreign functions.
    """
    resolve, join, split = os.path.realpath, os.path.join, os.path.split
    read_link, status, is_folder = os.readlink, os.stat, stat.S_ISDIR
    caller, own_pid = sys._getframe, os.getpid()
    root = resolve(root)
    names = tuple(banned)
    hidden = (*(resolve(each) for each in secret), *_places(names))
    installed = {*sysconfig.get_paths().values(), sys.base_prefix, *trusted}
    libraries = tuple(resolve(each) for each in installed)
    foreign_functions = resolve(join(sysconfig.get_paths()["stdlib"], "ctypes"))
    separator, nothing = os.sep, os.devnull

    def inside(path: str, folder: str) -> bool:
        return path == folder or path.startswith(folder + separator)

    def absolute(path: Any, folder: Any = None, *, of_link: bool = False) -> str:
        """Where a path leads; an exact string, whatever class it was handed over as."""
        if isinstance(path, int):
            return resolve(read_link(f"/proc/self/fd/{int(path)}"))
        text = str.__str__(path) if isinstance(path, str) else os.fsdecode(path)
        if isinstance(folder, int) and folder >= 0:
            text = join(read_link(f"/proc/self/fd/{int(folder)}"), text)
        if of_link:
            above, name = split(text.rstrip(separator))
            return join(resolve(above or "."), name)
        return resolve(text)

    def opened(path: Any, mode: Any, flags: Any) -> None:
        if isinstance(path, int):
            return  # open already
        target = absolute(path)
        writes = bool(flags & _WRITING) if isinstance(flags, int) else False
        writes = writes or (isinstance(mode, str) and any(sign in mode for sign in "wax+"))
        if writes:
            if not inside(target, root) and target != nothing:
                raise Forbidden("write", target)
        elif any(inside(target, each) for each in hidden) or _of_another_process(target, own_pid):
            raise Forbidden("read", target)
        elif mode is None and not inside(target, root) and _folder(target):
            raise Forbidden("open", target)  # files could be reached through it unheard

    def _folder(path: str) -> bool:
        try:
            return is_folder(status(path).st_mode)
        except OSError:
            return False

    def changed(event: str, arguments: tuple[Any, ...]) -> None:
        for at, folder_at in _ACTS[event]:
            path = arguments[at]
            if event == "sqlite3.connect" and path == ":memory:":
                continue
            folder = None if folder_at is None else arguments[folder_at]
            try:
                target = absolute(path, folder, of_link=event in _ON_THE_LINK_ITSELF)
            except OSError:
                raise Forbidden(event, str(path)) from None
            if not inside(target, root):
                raise Forbidden(event, target)

    def by_a_library() -> bool:
        """Whether the code that wants to reach below Python is an installed package's."""
        frame = caller(2)  # beyond this function and the hook
        file = frame.f_code.co_filename
        while frame.f_back and (
            inside(file, foreign_functions) or file.startswith("<frozen importlib")
        ):
            frame = frame.f_back
            file = frame.f_code.co_filename
        return not inside(file, root) and any(inside(file, each) for each in libraries)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            opened(*arguments)
        elif event == "import":
            name = arguments[0]
            if name in _UNHEARD or any(
                name == each or name.startswith(each + ".") for each in names
            ):
                raise ForbiddenImport(name)
        elif event in _ACTS:
            changed(event, arguments)
        elif event in _PROCESSES:
            raise Forbidden("process", event)
        elif event in ("os.kill", "os.killpg"):
            if event == "os.killpg" or arguments[0] != own_pid:
                raise Forbidden("signal", event)
        elif event.startswith("socket.") and event != "socket.gethostname":
            raise Forbidden("network", event)
        elif event.startswith(("ctypes.", "gc.get_", "winreg.")) and not by_a_library():
            raise Forbidden("reach", event)
        elif event.startswith("resource."):
            raise Forbidden("limit", event)

    _close_the_side_door()
    sys.addaudithook(hook)


def _of_another_process(path: str, own_pid: int) -> bool:
    parts = path.split("/")
    if parts[:2] != ["", "proc"] or len(parts) < 4 or not parts[2].isdigit():
        return False
    return int(parts[2]) != own_pid or parts[-1] == "mem"


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
            places += [os.path.realpath(each) for each in found or [spec.origin or ""] if each]
    return places


def _close_the_side_door() -> None:
    """The function beneath ``subprocess`` starts processes without an audit event."""

    def refused(*_: object, **__: object) -> int:
        raise Forbidden("process", "fork_exec")

    try:
        import _posixsubprocess
    except ImportError:
        return
    replacement: Callable[..., int] = refused
    _posixsubprocess.fork_exec = replacement
    if "subprocess" in sys.modules:
        sys.modules["subprocess"]._fork_exec = replacement  # type: ignore[attr-defined]
