"""The labs there are: one folder each in ``data/labs``, described by its ``lab.yaml``."""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from whygrad.errors import fail
from whygrad.learn import content
from whygrad.learn.lab.layout import above, broken, markdown
from whygrad.learn.language import Language, Words

__all__ = ["Lab", "UnknownLab", "find", "labs", "read"]

_PLACEHOLDER = re.compile(r"«([a-z0-9_]+)»")
# What may stand before a text that is broken into lines, and what its further lines begin with.
_LEADS = {"": "", "#": "# ", '"""': "", "<!--": "     "}
_TRAILING = re.compile(r"^( *[^#\s«].*?)  # «([a-z0-9_]+)»$", re.M)


@dataclass(frozen=True)
class Lab:
    """One lab; the fields are those of lab.yaml."""

    folder: Path
    number: int
    name: str
    title: Words
    about: Words
    minutes: int
    files: tuple[str, ...]
    checks: Mapping[str, Words]
    hints: Mapping[str, Sequence[Words]]
    see: tuple[str, ...]
    readme: Words
    texts: Mapping[str, Words]
    needs: tuple[str, ...] = ()  # packages without which it cannot be done
    forbids: tuple[str, ...] = ()  # modules that would be the answer
    free: tuple[str, ...] = ()  # checks that an unsolved starter may pass
    seconds: float = 10.0
    megabytes: int = 2048
    variants: tuple[str, ...] = ()  # folders in starter and solution, one for each learner
    variant: str = ""  # the one that was drawn

    @property
    def label(self) -> str:
        """``01_value``, the name of its folders."""
        return self.folder.name

    def starter(self, language: Language) -> dict[str, str]:
        """The files of the start, by name, in a language."""
        return {name: self._localized("starter", name, language) for name in self.files}

    def solution(self, language: Language) -> dict[str, str]:
        """The reference solution, by file; a file that it leaves alone is as in the starter."""
        return {name: self._localized("solution", name, language) for name in self.files}

    def page(self, language: Language) -> str:
        """The README of the learner's folder."""
        return markdown(self.readme[language])

    def text(self, key: str, language: Language) -> str:
        """One of the ``texts`` of lab.yaml."""
        if key not in self.texts:
            raise fail(
                LookupError,
                call=f"the text «{key}» of lab {self.name}",
                cause=f"lab.yaml has none of this name; it has {', '.join(self.texts) or 'none'}",
                fix=f"add it under texts, in both languages: {key}: {{en: …, es: …}}",
                where=None,
            )
        return self.texts[key][language]

    def to_fill_in(self) -> list[str]:
        """The files that the learner writes: those that the solution changes."""
        return [
            name
            for name in self.files
            if self._localized("solution", name, "en") != self._localized("starter", name, "en")
        ]

    def drawn(self, seed: int) -> Lab:
        """The lab in the variant that a seed means; itself where there is only one."""
        if not self.variants:
            return self
        return replace(self, variant=self.variants[seed % len(self.variants)])

    def missing(self) -> list[str]:
        """The packages it needs that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]

    def grader(self) -> ModuleType:
        """The module with ``grade(bench)``."""
        name = f"whygrad_lab_{self.number}_grader"
        spec = importlib.util.spec_from_file_location(name, self.folder / "grader.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
        return module

    def _localized(self, part: str, name: str, language: Language) -> str:
        places = [
            self.folder / each / variant / name
            for each in (part, "starter")
            for variant in (self.variant, "")
        ]
        path = next((each for each in places if each.is_file()), places[0])
        template = path.read_text(encoding="utf-8")

        def filled(found: re.Match[str]) -> str:
            """The text, broken into lines where it stands in a comment, docstring or page."""
            text = self.text(found[1], language).strip("\n")
            before = template[template.rfind("\n", 0, found.start()) + 1 : found.start()]
            sign = before.strip()
            if sign not in _LEADS:
                return text
            lead = before[: len(before) - len(before.lstrip())] + _LEADS[sign]
            after = template[found.end() :].partition("\n")[0]
            lines = broken(text, before, lead, after)
            ends_docstring = "\n" in lines and after.startswith('"""')
            return f"{lines}\n{lead}" if ends_docstring else lines

        def placed(found: re.Match[str]) -> str:
            return above(found[1], self.text(found[2], language).strip("\n"))

        template = _TRAILING.sub(placed, template)
        return _PLACEHOLDER.sub(filled, template)


class UnknownLab(LookupError):
    """No lab has this number or name; ``close`` are names like it, ``all`` the names there are."""

    def __init__(self, wish: str) -> None:
        self.wish = wish
        self.all = [lab.name for lab in labs()]
        self.close = get_close_matches(wish.lower(), self.all, n=3, cutoff=0.5)
        super().__init__(f"no lab is called {wish!r}; there are {', '.join(self.all)}")


def read(folder: Path) -> Lab:
    """The lab in a folder."""
    raw: dict[str, Any] = dict(content.read_yaml(folder / "lab.yaml"))
    raw.pop("schema")
    for name in ("files", "forbids", "free", "needs", "see", "variants"):
        raw[name] = tuple(raw.get(name, ()))
    return Lab(folder=folder, **{"texts": {}, **raw})


@functools.cache
def labs() -> tuple[Lab, ...]:
    """All labs, in the order of the course."""
    found = (read(path.parent) for path in (content.folder() / "labs").glob("*/lab.yaml"))
    return tuple(sorted(found, key=lambda lab: lab.number))


def find(wish: str) -> Lab:
    """A lab by number (``1``, ``01``), name (``value``) or folder (``01_value``)."""
    for lab in labs():
        if wish in (lab.name, lab.label) or (wish.isdigit() and int(wish) == lab.number):
            return lab
    raise UnknownLab(wish)
