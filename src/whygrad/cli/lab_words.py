"""Sentences of ``whygrad lab``: in a terminal broken between words, elsewhere in one line."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TextIO

import click

__all__ = ["misuse", "refusal", "tell"]


def tell(text: str) -> None:
    """Print a sentence."""
    click.echo(_in_lines(text, sys.stdout))


def refusal(text: str) -> click.ClickException:
    """What ends the command with exit code 1."""
    return click.ClickException(_in_lines(text, sys.stderr, "Error: "))


def misuse(text: str) -> click.UsageError:
    """What ends the command with exit code 2, below how it is used."""
    return click.UsageError(_in_lines(text, sys.stderr, "Error: "))


def _in_lines(text: str, stream: TextIO, before: str = "") -> str:
    if not stream.isatty():
        return text
    columns = shutil.get_terminal_size().columns
    lines = textwrap.fill(before + text, columns, break_long_words=False, break_on_hyphens=False)
    return lines.removeprefix(before)
