"""The commands; each imports its work only when called."""

from __future__ import annotations

import io
import sys

import click
from rich.console import Console

from whygrad.cli.drill import drill
from whygrad.cli.lab import lab
from whygrad.cli.quantity import Quantity
from whygrad.cli.quiz import quiz

__all__ = ["cli"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="whygrad")
@click.pass_context
def cli(context: click.Context) -> None:
    """An autograd engine that can say why."""
    # what a terminal has no sign for is a question mark there, but a program that the doctor runs
    # has the terminal as it would have it without him
    if context.invoked_subcommand != "doctor" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


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


@cli.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Everything after the script belongs to it. Of a program that ends by os._exit() or "
    "is killed by SIGKILL, --recover tells the last state.",
)
@click.option("-m", "--module", is_flag=True, help="Run a module, as python -m does.")
@click.option("--json", metavar="FILE", help="Write the report as JSON, for other programs.")
@click.option("--html", metavar="FILE", help="Write the report as a page with plots.")
@click.option("--markdown", metavar="FILE", help="Write the report as Markdown.")
@click.option("--ignore", metavar="RULE", multiple=True, help="A rule that is not to speak.")
@click.option(
    "--threshold", metavar="RULE.NAME=VALUE", multiple=True, help="Another threshold for a rule."
)
@click.option(
    "--budget", metavar="TIME", type=Quantity({"s": 1, "m": 60}),
    help="Time to run steps again after the program, as 20s; 5s to 7s if not given.",
)  # fmt: skip
@click.option(
    "--memory", metavar="SIZE", type=Quantity({"MB": 1e6, "KB": 1e3, "GB": 1e9}),
    help="Memory for that, as 500MB; 1GB if not given.",
)  # fmt: skip
@click.option("--exit-code", is_flag=True, help="Exit with 1 when something is wrong.")
@click.option(
    "--recover", metavar="FILE", help="Tell the last state of a program that was killed; or latest."
)
@click.option("--list-rules", is_flag=True, help="Print all rules and exit.")
@click.option("--explain", metavar="RULE", help="Print the page of a rule and exit.")
@click.argument("script", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def doctor(
    context: click.Context,
    module: bool,
    json: str | None,
    html: str | None,
    markdown: str | None,
    ignore: tuple[str, ...],
    threshold: tuple[str, ...],
    budget: float | None,
    memory: float | None,
    exit_code: bool,
    recover: str | None,
    list_rules: bool,
    explain: str | None,
    script: str | None,
    arguments: tuple[str, ...],
) -> None:
    """Run a training script, PyTorch's or whygrad's, and name the root cause of its trouble.

    The script runs unmodified, with its own output and exit code; the report goes to stderr.
    """
    from whygrad.cli import doctor as work

    if list_rules:
        work.list_rules(Console())
    elif explain is not None:
        work.explain_rule(Console(), explain)
    elif recover is not None:
        work.recovered(Console(), recover)
    elif script is None:
        raise click.UsageError("name the script to run: whygrad doctor train.py")
    else:
        code = work.run(
            script,
            arguments,
            is_module=module,
            files={"json": json, "html": html, "markdown": markdown},
            ignore=ignore,
            thresholds=threshold,
            sick_exit=exit_code,
            budget=budget,
            memory=memory,
        )
        context.exit(code)


cli.add_command(drill)
cli.add_command(lab)
cli.add_command(quiz)
