"""What is wrong with a command is said in Spanish, too."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from whygrad.cli.commands import cli


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYGRAD_HOME", str(tmp_path))
    monkeypatch.setenv("WHYGRAD_LANG", "en")
    monkeypatch.chdir(tmp_path)


def refused(command: str) -> str:
    result = CliRunner().invoke(cli, command.split())
    assert result.exit_code in (1, 2), result.output
    return result.output


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("quiz 7x", "No hay ningún cuestionario 7x"),
        ("quiz --question zz", "Ahí no hay ninguna pregunta zz"),
        ("quiz --export x.pdf", "el nombre tiene que terminar en .md o .html"),
        ("quiz 07 08", "Sobra en la línea de comandos: 08"),
        ("quiz --nonsense", "No existe la opción '--nonsense'."),
        ("quiz --wrnog", "¿Querías decir"),
        ("quiz 07 --seed x", "Valor no válido para '--seed': 'x' no es un número entero."),
        ("drill --limit 0", "Valor no válido para '--limit': 0 está fuera del rango x>=1."),
        ("drill export", "Falta la opción '--to'."),
        ("drill progress nonsense", "No existe el comando 'nonsense'."),
    ],
)
def test_usage(command: str, message: str) -> None:
    said = refused(f"{command} --lang es")
    assert said.startswith("Uso: ")
    assert "' para ver la ayuda.\n" in said
    assert message in said
    assert refused(f"{command} --lang=es") == said
    assert refused(command).startswith("Usage: ")


def test_a_language_that_is_none() -> None:
    assert "is not one of" in refused("quiz --lang fr")


def test_the_environment_counts_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYGRAD_LANG", "es")
    assert refused("drill --lang fr").startswith("Usage: ")
    assert refused("drill --nonsense").startswith("Uso: ")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("drill export --to x.txt", "exportar a x.txt\n  causa:   .txt no es un formato de Anki\n"),
        ("drill export --to x.tsv --deck 5", "  arreglo: elige un nombre que tenga alguna letra"),
        ("drill export --to no/x.tsv", "no/x.tsv: No existe el archivo o la carpeta"),
    ],
)
def test_other_errors(command: str, message: str) -> None:
    assert message in refused(f"{command} --lang es")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("drill lits", "Did you mean whygrad drill list?"),
        ("drill lits --lang es", "¿Querías decir whygrad drill list --lang es?"),
    ],
)
def test_a_slip_in_the_name_of_a_command(command: str, message: str) -> None:
    assert message in refused(command)
