"""``whygrad …`` on the command line."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point; says what to install when the command line's own packages are missing."""
    try:
        from whygrad.cli.commands import cli
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("click", "rich"):
            raise
        sys.exit(f"whygrad's commands need {missing.name}: pip install 'whygrad[cli]'")
    cli()
