"""Writing a file so that a crash, a kill or a power cut leaves the old one or the new one.

The new content goes to a folder of its own beside the old file, is forced to the disk, and takes
its place in a single step of the file system.  A folder, because the writer may need files of its
own on the way, as safetensors does.  What a killed program leaves behind is removed by the next one
that saves to the same place.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

__all__ = ["replacing"]

_counter = itertools.count()


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place for a file that becomes ``path`` when the block ends well, and only then."""
    target = Path(os.path.realpath(path))  # a link stays a link
    _remove_leftovers(target)
    folder = target.with_name(f".{target.name}.{_host()}-{os.getpid()}-{next(_counter)}.partial")
    try:
        folder.mkdir()
        partial = folder / target.name
        yield partial
        # the writer may have made it for the owner's eyes only, whatever the umask says
        partial.chmod(folder.stat().st_mode & 0o666)
        with open(partial, "r+b") as stream:
            os.fsync(stream.fileno())
        os.replace(partial, target)
    except OSError as error:
        if str(error.filename).startswith(str(folder)):  # a name that nobody asked for
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _settle(target.parent)


def _settle(folder: Path) -> None:
    """Force the new name to the disk as well, where folders can be opened."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftovers(target: Path) -> None:
    """What is left of programs on this machine that are no longer running."""
    ours = re.compile(rf"\.{re.escape(target.name)}\.{re.escape(_host())}-(\d+)-\d+\.partial")
    with contextlib.suppress(OSError):
        for entry in os.scandir(target.parent):
            match = ours.fullmatch(entry.name)
            if match and not _is_running(int(match[1])):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_running(pid: int) -> bool:
    if os.name != "posix":
        return True  # os.kill would end it there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True


def _host() -> str:
    return re.sub(r"[^\w.]", "_", socket.gethostname())
