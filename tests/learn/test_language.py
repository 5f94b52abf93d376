"""Which language is spoken, and which commands have to say so."""

from __future__ import annotations

import locale

import pytest

from whygrad.learn import language as module
from whygrad.learn.language import chosen, in_language
from whygrad.learn.references import command_for

VARIABLES = ("WHYGRAD_LANG", "LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE")


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable says anything, and the system speaks French."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(locale, "getlocale", lambda: ("fr_FR", "UTF-8"))
    module._say_unknown.cache_clear()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "en"),
        ({"LANG": "es_ES.UTF-8"}, "es"),
        ({"LANG": "es"}, "es"),
        ({"LANG": "est_EE"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "es_MX"}, "es"),
        ({"LANG": "es_ES", "LC_MESSAGES": "es_ES", "LC_ALL": "C"}, "en"),
        ({"LANG": "es_ES", "LC_ALL": ""}, "es"),
        ({"LANG": "en_GB", "LANGUAGE": "es:en"}, "es"),
        ({"LANG": "ca_ES.UTF-8", "LANGUAGE": "ca:es"}, "es"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "es"}, "en"),
        ({"LANGUAGE": "es"}, "es"),
        ({"LANG": "es_ES", "WHYGRAD_LANG": "en"}, "en"),
        ({"LANG": "en_US", "WHYGRAD_LANG": "ES"}, "es"),
        ({"LANG": "es_ES", "WHYGRAD_LANG": ""}, "es"),
    ],
)
def test_the_language_of_the_environment(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert chosen() == expected
    assert chosen("en") == "en"
    assert chosen("es") == "es"


@pytest.mark.parametrize("name", ["es_ES", "Spanish_Spain"])
def test_a_system_without_variables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locale, "getlocale", lambda: (name, None))
    assert chosen() == "es"


def test_an_unknown_language_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WHYGRAD_LANG", "xx")
    monkeypatch.setenv("LANG", "es_ES")
    assert [chosen(), chosen()] == ["es", "es"]
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "WHYGRAD_LANG=xx: whygrad speaks en (English) and es (español).\n"


def test_a_command_names_the_language_only_where_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_language("whygrad quiz 07", "es") == "whygrad quiz 07 --lang es"
    assert in_language("whygrad quiz 07", "en") == "whygrad quiz 07"
    monkeypatch.setenv("WHYGRAD_LANG", "es")
    assert in_language("whygrad quiz 07", "es") == "whygrad quiz 07"
    assert in_language("whygrad quiz 07", "en") == "whygrad quiz 07 --lang en"
    assert in_language("whygrad quiz 07", "es", otherwise="en") == "whygrad quiz 07 --lang es"


def test_a_reference_names_the_language_where_its_command_has_one() -> None:
    assert command_for("lab:value", "es") == "whygrad lab start value --lang es"
    assert command_for("lab:value", "en") == command_for("lab:value") == "whygrad lab start value"
    assert command_for("op:log", "es") == "whygrad ops log"
    assert command_for("doc:engine.md", "es") == "docs/engine.md"
