"""What the command line itself says of a command that is wrong, in Spanish.

click's own sentences and those of the system have no other source here than their English text.
What is not in the table stays English.
"""

from __future__ import annotations

import io
import re
from typing import IO, Any

import click

__all__ = ["SpanishUsageError", "in_spanish"]

_SAYINGS = tuple(
    (re.compile(english, re.M), spanish)
    for english, spanish in (
        (r"^Usage: ", "Uso: "),
        (r"\[OPTIONS\]", "[OPCIONES]"),
        (r"COMMAND \[ARGS\]\.\.\.", "COMANDO [ARGUMENTOS]..."),
        (r"^Try '(.*)' for help\.$", r"Prueba '\1' para ver la ayuda."),
        (r"No such option:? '?([^\s']+)'?\.?", r"No existe la opción '\1'."),
        (r"No such command '(.*?)'\.", r"No existe el comando '\1'."),
        (r"\(Did you mean one of: (.*?)\?\)", r"(¿Querías decir alguna de estas? \1)"),
        (r"Did you mean (.*?)\?", r"¿Querías decir \1?"),
        (r"Missing argument ", "Falta el argumento "),
        (r"Missing option ", "Falta la opción "),
        (r"Missing command\.", "Falta un comando."),
        (r"Invalid value for (.*?): ", r"Valor no válido para \1: "),
        (r" is not a valid integer( range)?\.", " no es un número entero."),
        (r" is not in the range ", " está fuera del rango "),
        (r" is not one of ", " no es ninguno de estos: "),
        (r"Option '(.*?)' requires an argument\.", r"La opción '\1' necesita un valor."),
        (r"Got unexpected extra arguments? \((.*)\)", r"Sobra en la línea de comandos: \1"),
        (r"File '(.*?)' is a directory\.", r"'\1' es una carpeta."),
        (r"the course needs (\w+): ", r"el curso necesita \1: "),
        (r"No such file or directory", "No existe el archivo o la carpeta"),
        (r"Is a directory", "Es una carpeta"),
        (r"Not a directory", "No es una carpeta"),
        (r"Permission denied", "Permiso denegado"),
        (r"^  cause: ", "  causa:   "),
        (r"^  fix:   ", "  arreglo: "),
    )
)


def in_spanish(text: str) -> str:
    for english, spanish in _SAYINGS:
        text = english.sub(spanish, text)
    return text


class SpanishUsageError(click.UsageError):
    """Another usage error, shown in Spanish."""

    def __init__(self, error: click.UsageError) -> None:
        super().__init__(error.message, error.ctx)
        self.error = error

    def show(self, file: IO[Any] | None = None) -> None:
        english = io.StringIO()
        self.error.show(english)
        click.echo(in_spanish(english.getvalue()), file=file, nl=False, err=True)
