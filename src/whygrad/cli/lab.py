"""``whygrad lab``."""

from __future__ import annotations

import click

__all__ = ["lab"]


@click.group()
def lab() -> None:
    """Exercises that grade themselves."""
