"""The learner's folder of a lab: made once, never overwritten, reset with a backup."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from whygrad.files.atomic import replacing
from whygrad.learn.lab.catalogue import Lab, UnknownLab, find
from whygrad.learn.language import Language

__all__ = ["Workspace", "enclosing", "make", "opened", "reset", "usual_folder"]

_MARKER = ".whygrad-lab.json"


@dataclass(frozen=True)
class Workspace:
    """A folder with a lab in it."""

    lab: Lab
    folder: Path
    language: Language  # to speak
    own_language: Language  # in which it was started, and speaks if nobody asks otherwise


def usual_folder(lab: Lab) -> Path:
    """Where a lab is started when no folder is named."""
    return Path("whygrad-labs", lab.label)


def make(lab: Lab, folder: Path, language: Language) -> list[str]:
    """Start a lab in a folder; returns the files written.  What is there already stays as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"README.md": lab.page(language), **lab.starter(language)}
    written = []
    for name, text in texts.items():
        if not (folder / name).exists():
            _write(folder / name, text)
            written.append(name)
    if written or not (folder / _MARKER).exists():
        marker = {"schema": 1, "lab": lab.name, "language": language}
        if lab.variant:
            marker["variant"] = lab.variant
        _write(folder / _MARKER, json.dumps(marker))
    return written


def reset(workspace: Workspace) -> Path:
    """Put the starter back, in the language to speak; returns where the learner's files are now."""
    moment = datetime.now().strftime("%Y%m%d-%H%M%S")
    backup = workspace.folder / f".backup-{moment}"
    number = 1
    while backup.exists():
        number += 1
        backup = backup.with_name(f".backup-{moment}-{number}")
    backup.mkdir()
    for name in ("README.md", *workspace.lab.files):
        if (workspace.folder / name).exists():
            shutil.move(workspace.folder / name, backup / name)
    make(workspace.lab, workspace.folder, workspace.language)
    return backup


def opened(folder: Path) -> Workspace | None:
    """The lab in a folder, if there is one."""
    try:
        marker = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
        language: Language = "es" if marker["language"] == "es" else "en"
        lab = find(marker["lab"])
        if lab.variants:
            lab = lab.drawn(lab.variants.index(marker["variant"]))
        return Workspace(lab, folder, language, language)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, UnknownLab):
        return None


def enclosing(folder: Path) -> Workspace | None:
    """The lab of a folder or of one above it."""
    here = folder.resolve()
    found = (opened(each) for each in (here, *here.parents))
    return next((each for each in found if each is not None), None)


def _write(path: Path, text: str) -> None:
    with replacing(path) as partial:
        partial.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
