"""``whygrad drill``."""

from __future__ import annotations

import click

__all__ = ["drill"]


@click.group()
def drill() -> None:
    """Review cards with spaced repetition, and take them to Anki."""
