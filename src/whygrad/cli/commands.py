"""The commands; each imports its work only when called."""

from __future__ import annotations

import click
from rich.console import Console

__all__ = ["cli"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="whygrad")
def cli() -> None:
    """An autograd engine that can say why."""


@cli.command()
def tour() -> None:
    """A guided minute: a program, its tape, and the walk back."""
    from whygrad.cli.tour import run

    run(Console())


@cli.command()
@click.argument("name", required=False)
@click.option("--family", help="Only the ops of one family, such as 'activation'.")
def ops(name: str | None, family: str | None) -> None:
    """Print the op table, or one entry of it."""
    from whygrad.cli.op_table import show_all, show_one

    console = Console()
    if name is None:
        show_all(console, family)
    else:
        show_one(console, name)
