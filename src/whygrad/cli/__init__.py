"""``whygrad …`` on the command line."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Entry point."""
    from whygrad.cli.commands import cli

    cli()
