"""What must hold for every lab: the unsolved one fails, the solution passes, nothing is missing."""

from __future__ import annotations

import ast
import json
import string
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from whygrad.errors import explained
from whygrad.learn.content import folder, read_yaml
from whygrad.learn.lab.bench import in_grader
from whygrad.learn.lab.catalogue import Lab
from whygrad.learn.lab.grading import Report, grade
from whygrad.learn.lab.layout import COLUMNS
from whygrad.learn.language import LANGUAGES, Language
from whygrad.learn.references import leads_nowhere

__all__ = ["complaints"]

_PROGRAMS = {
    "grader.py": "grade(bench), which yields a check for each of lab.yaml",
    "probes.py": "the functions that bench.ask and bench.compare call beside the learner's program",
}


def complaints(lab: Lab, language: Language = "en") -> list[str]:
    """What is wrong with a lab; empty when all is well.  The grader speaks in a language."""
    variants = [lab.drawn(number) for number in range(len(lab.variants) or 1)]
    found = list(_form(lab)) or list(_texts(lab))
    return found or [words for each in variants for words in _of_variant(each, language)]


def _of_variant(lab: Lab, language: Language) -> list[str]:
    files = [*_files(lab, "starter"), *_files(lab, "solution")]
    try:
        found = files or [*_unsolved(lab, language), *_solved(lab, language)]
    except Exception as error:  # of grader.py, outside its checks
        about = "" if explained(error) else f"{in_grader(error) or 'grader.py'}: "
        found = [f"{about}{type(error).__name__}: {error}" if about else str(error)]
    found = list(dict.fromkeys(found))  # a mistake of the grader meets starter and solution
    return [f"{lab.variant}: {words}" if lab.variant else words for words in found]


def _form(lab: Lab) -> Iterator[str]:
    import jsonschema

    rules = json.loads((folder() / "schema" / "lab.schema.json").read_text(encoding="utf-8"))
    content = json.loads(json.dumps(read_yaml(lab.folder / "lab.yaml")))
    for error in jsonschema.Draft202012Validator(rules).iter_errors(content):
        said = error.message
        if error.validator == "minItems":
            wanted, there = error.validator_value, len(error.instance)
            said = f"at least {wanted} {error.path[0]} are wanted here, and there is only {there}"
        yield f"lab.yaml: {error.json_path}: {said}"
    if lab.label != f"{lab.number:02}_{lab.name.replace('-', '_')}":
        yield f"the folder {lab.label} does not fit number {lab.number} and name {lab.name}"
    for name, role in _PROGRAMS.items():
        if not (lab.folder / name).is_file():
            yield f"{name} is missing: {role}"
    yield from filter(None, map(leads_nowhere, lab.see))


def _texts(lab: Lab) -> Iterator[str]:
    if list(lab.hints) != list(lab.checks):
        yield f"hints are for {list(lab.hints)}, checks are {list(lab.checks)}"
    if unknown := set(lab.free) - set(lab.checks):
        yield f"free names checks that do not exist: {sorted(unknown)}"
    for key, words in lab.texts.items():
        fields = {language: sorted(_fields(words[language])) for language in LANGUAGES}
        if fields["en"] != fields["es"]:
            yield f"texts.{key} has other fields in each language: {fields}"
    for language in LANGUAGES:
        for name in lab.files:
            if name not in lab.readme[language]:
                yield f"the {language} README does not mention {name}"


def _fields(text: str) -> set[str]:
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:  # a text for a file, where braces are just braces
        return set()


def _files(lab: Lab, part: str) -> Iterator[str]:
    """Both languages are the same program, and no placeholder is left."""
    programs: list[Mapping[str, str]] = []
    for language in LANGUAGES:
        try:
            programs.append(getattr(lab, part)(language))
        except (LookupError, OSError) as error:
            yield f"{part}: {error}"
            return
        for name, page in {"README.md": lab.page(language), **programs[-1]}.items():
            for line in page.split("\n"):
                if len(line) > COLUMNS:
                    yield f"{part}/{name} ({language}), {len(line)} columns: {line.strip()}"
    for name in (each for each in lab.files if each.endswith(".py")):
        try:
            english, spanish = (_bare(files[name]) for files in programs)
        except SyntaxError as error:
            yield f"{part}/{name} is not valid Python: {error}"
            continue
        if english != spanish:
            yield f"{part}/{name} is another program in Spanish"


def _bare(source: str) -> str:
    """A program without its comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            first.value.value = ""
    return ast.dump(tree)


def _unsolved(lab: Lab, language: Language) -> Iterator[str]:
    report = _graded(lab, lab.starter("en"), language)
    passing = [check.id for check in report.checks if check.passed]
    if report.passed:
        yield "the starter passes"
    if extra := [each for each in passing if each not in lab.free]:
        yield (
            f"the starter passes {extra}, which are not listed as free: a check must fail until "
            "the lab is solved; one that only guards what is there already is listed in lab.yaml, "
            f"free: [{', '.join(extra)}]"
        )
    if shy := [each for each in lab.free if each not in passing]:
        yield f"{shy} are listed as free, but the starter fails them"
    for check in report.checks:
        if check.kind == "grader":
            yield f"{check.where}: {check.message}"
        elif check.kind == "probes":
            yield f"{check.id}: {check.message}"
        elif not check.passed and not check.message:
            yield f"{check.id} fails without a message"


def _solved(lab: Lab, language: Language) -> Iterator[str]:
    for check in _graded(lab, lab.solution("es"), language).checks:
        if check.kind == "grader":
            yield f"{check.where}: {check.message}"
        elif not check.passed:
            yield f"the solution fails {check.id}: {check.message} {check.where}".rstrip()


def _graded(lab: Lab, files: Mapping[str, str], language: Language) -> Report:
    with tempfile.TemporaryDirectory() as home:
        for name, text in files.items():
            Path(home, name).write_text(text, encoding="utf-8")
        return grade(lab, Path(home), language=language)
