"""Writing a file that the learner has named."""

from __future__ import annotations

import os
from pathlib import Path

from whygrad.files.atomic import replacing

__all__ = ["write"]


def write(target: Path, content: bytes) -> None:
    """All of it or nothing; an error names this file, not what stands beside it on the way."""
    try:
        if target.is_fifo() or target.is_char_device():  # nothing to replace, as in /dev/stdout
            target.write_bytes(content)
            return
        with replacing(target) as partial:
            partial.write_bytes(content)
    except OSError as error:
        error.filename = os.fspath(target)
        raise
