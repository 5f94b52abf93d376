"""The one kind of error for files that are not what they should be."""

from __future__ import annotations

from whygrad.errors import fail

__all__ = ["CheckpointError", "damaged"]


class CheckpointError(RuntimeError):
    """A file is damaged, cut off or of another kind, or could not be written."""


def damaged(label: str, cause: str, fix: str | None = None) -> CheckpointError:
    return fail(
        CheckpointError,
        call=f"whygrad.load({label!r})",
        cause=cause,
        fix=fix or "the file is damaged or was not completely copied: take another copy of it",
    )
