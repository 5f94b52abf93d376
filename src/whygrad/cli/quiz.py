"""``whygrad quiz``: ask, list, export, and show how a learner stands."""

from __future__ import annotations

import click

from whygrad.cli.course import CourseCommand, language_option, tell_damage

__all__ = ["quiz"]


@click.command(
    cls=CourseCommand,
    epilog="Answers are kept in the folder WHYGRAD_HOME, or where your system keeps data of "
    "programs.",
)
@click.argument("number", required=False)
@language_option
@click.option("--wrong", is_flag=True, help="Only the questions you have missed so far.")
@click.option("--question", metavar="ID", help="Only this question, such as q-07-03.")
@click.option("--restart", is_flag=True, help="From the first question, not where you stopped.")
@click.option("--shuffle", is_flag=True, help="Mix the options.")
@click.option("--seed", type=int, help="Mix the options, the same way for the same number.")
@click.option("--results", is_flag=True, help="Show how you stand, topic by topic.")
@click.option("--export", metavar="FILE", help="Write a Markdown (.md) or HTML (.html) file.")
@click.option(
    "--json",
    metavar="FILE",
    help="Write questions with answers (with --results: yours) as JSON; - is the terminal.",
)
@click.pass_context
def quiz(
    context: click.Context,
    number: str | None,
    lang: str | None,
    wrong: bool,
    question: str | None,
    restart: bool,
    shuffle: bool,
    seed: int | None,
    results: bool,
    export: str | None,
    json: str | None,
) -> None:
    """Questions with explanations, in English and in Spanish.

    Without a NUMBER the quizzes are listed.
    """
    from whygrad.learn.language import chosen
    from whygrad.learn.quiz import commands as work
    from whygrad.learn.quiz.progress import journal
    from whygrad.learn.quiz.words import Speech

    language = chosen(lang)
    say = Speech(language)
    mixed = shuffle or seed is not None
    asking = wrong or restart or mixed or question is not None
    if sum((export is not None, results or json is not None, asking)) > 1:
        raise click.UsageError(say("exclusive"))
    if question is not None and (wrong or restart):
        raise click.UsageError(say("one_or_several"))
    known = work.chosen_quizzes(number, question, language)
    if export is None and (results or json is None):
        tell_damage(context, journal)
    if export is not None:
        work.export(known, language, export)
    elif json is not None:
        work.write_json(known, language, json, results=results)
    elif results:
        work.show_results(known, language)
    elif number is None and question is None:
        if asking:
            raise click.UsageError(say("name_a_quiz", command=say.command("quiz 07")))
        work.show_list(known, language)
    else:
        chance = None if not mixed else work.any_seed() if seed is None else str(seed)
        code = work.ask(
            known[0], lang, wrong=wrong, question=question, restart=restart, seed=chance
        )
        context.exit(code)
