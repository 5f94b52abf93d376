"""Where a learner's progress is kept: one folder per person, never inside the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["data_folder"]


def data_folder() -> Path:
    """The folder for answers, review logs and lab records; made when it is missing.

    ``WHYGRAD_HOME`` overrides the system's place for data of applications.
    """
    folder = _system_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:  # "file exists" alone would sound as if all were well
        error.strerror = "this is a file, and progress is kept in a folder"
        raise
    return folder


def _system_folder() -> Path:
    if own := os.environ.get("WHYGRAD_HOME"):
        return Path(own).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "whygrad"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "whygrad"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "whygrad"
