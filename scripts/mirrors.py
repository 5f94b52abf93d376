"""The course as pages to read: ``docs/quizzes`` and ``docs/drills``, in both languages.

YAML in ``data/`` is the source; these pages are made from it by ``make docs``, and a test fails
when they are out of step.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from whygrad.learn.content import Card, Deck, Quiz, decks, phrases, quizzes
from whygrad.learn.language import LANGUAGES, Language, in_language
from whygrad.learn.markup import to_markdown
from whygrad.learn.quiz.export_markdown import questions_section
from whygrad.learn.quiz.words import Speech
from whygrad.learn.references import command_for

__all__ = ["index", "pages", "present", "write"]


def pages() -> dict[str, str]:
    """Every page by its place under ``docs``."""
    made = {}
    for language in LANGUAGES:
        for quiz in quizzes():
            made[f"quizzes/{language}/{quiz.id}.md"] = _quiz_page(quiz, language)
        for deck in decks():
            made[f"drills/{language}/{deck.id}.md"] = _deck_page(deck, language)
    return made


def write(docs: Path) -> list[Path]:
    """Write the pages that are not as they should be; those of quizzes that are gone go, too."""
    wanted = {docs / name: text for name, text in pages().items()}
    changed = []
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    for path in present(docs) - set(wanted):
        path.unlink()
        changed.append(path)
    return changed


def present(docs: Path) -> set[Path]:
    """The pages that are there."""
    return {page for part in ("quizzes", "drills") for page in docs.glob(f"{part}/*/*.md")}


def index(part: str, language: Language) -> str:
    """The table of all quizzes or decks, for a page in ``docs``."""
    say = phrases("pages", language)
    items = [
        (item.number, item.title[language], item.id, count)
        for item, count in (
            [(quiz, len(quiz.questions)) for quiz in quizzes()]
            if part == "quizzes"
            else [(deck, len(deck.cards)) for deck in decks()]
        )
    ]
    columns = say["quiz_columns" if part == "quizzes" else "drill_columns"]
    rows = [f"| {columns} |", "| --- | --- | ---: |"]
    for number, title, name, count in items:
        shown = to_markdown(title).replace("|", r"\|")
        rows.append(f"| `{number}` | [{shown}]({part}/{language}/{name}.md) | {count} |")
    return "\n".join(rows)


def _quiz_page(quiz: Quiz, language: Language) -> str:
    command = in_language(f"whygrad quiz {quiz.number}", language, otherwise="en")
    say = phrases("pages", language)
    parts = [
        *_head("quizzes", quiz, language),
        to_markdown(quiz.about[language]),
        say["quiz_command"].format(count=len(quiz.questions), command=command),
        questions_section(quiz, Speech(language), partial(_link, language=language)),
    ]
    return "\n\n".join(parts) + "\n"


def _deck_page(deck: Deck, language: Language) -> str:
    command = in_language(f"whygrad drill {deck.number}", language, otherwise="en")
    export = f"whygrad drill export --to deck.apkg --lang {language} {deck.number}"
    say = phrases("pages", language)
    parts = [
        *_head("drills", deck, language),
        say["drill_command"].format(count=len(deck.cards), command=command, export=export),
        *(_card(card, language) for card in deck.cards),
    ]
    return "\n\n".join(parts) + "\n"


def _head(part: str, item: Quiz | Deck, language: Language) -> list[str]:
    """What the page is made from, its title, and the way to its other language."""
    say = phrases("pages", language)
    source = f"data/{part}/{item.source}"
    ways = [
        phrases("pages", other)["here"]
        if other == language
        else f"[{phrases('pages', other)['here']}](../{other}/{item.id}.md)"
        for other in LANGUAGES
    ]
    guide = f"{part}.md" if language == "en" else f"{part}.{language}.md"
    ways.append(f"[{say[f'about_{part}']}](../../{guide})")
    ways.append(f"{say['source']}: [{source}](../../../{source})")
    return [
        f"<!-- {say['made_from'].format(source=source)} -->",
        f"# {to_markdown(item.title[language])}",
        " · ".join(ways),
    ]


def _card(card: Card, language: Language) -> str:
    say = phrases("pages", language)
    tags = " ".join(f"`{tag}`" for tag in card.tags)
    parts = [
        f"## {card.id}",
        to_markdown(card.front[language]),
        f"<details>\n<summary>{say['answer']}</summary>",
        to_markdown(card.back[language]),
        f"{say['look_at']} {' · '.join(_link(each, language) for each in card.see)}"
        if card.see
        else "",
        tags,
        "</details>",
    ]
    return "\n\n".join(filter(None, parts))


def _link(reference: str, language: Language) -> str:
    """A reference as seen from a page two folders under ``docs``."""
    kind, _, name = reference.partition(":")
    target = {
        "doc": f"../../{name}",
        "rule": f"../../doctor/{name}.md",
        "example": f"../../../examples/{name}.py",
    }.get(kind)
    shown = f"`{command_for(reference, language, otherwise='en')}`"
    return f"[{shown}]({target})" if target else shown
