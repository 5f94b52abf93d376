"""``whygrad quiz``."""

from __future__ import annotations

import click

__all__ = ["quiz"]


@click.group()
def quiz() -> None:
    """Questions with explanations, in English and in Spanish."""
