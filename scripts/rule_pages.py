"""The documentation of the rules, made from the rules: an index and a page each.

``make docs`` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

from whygrad.doctor.report.blocks import Code
from whygrad.doctor.report.excerpt import advice
from whygrad.doctor.report.markdown import block_text, escaped
from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import TIERS, Rule, rules
from whygrad.doctor.verdict.order import explained, explaining

__all__ = ["INDEX", "pages", "write"]

INDEX = "rules.md"
_MADE_HERE = "<!-- made from the rule: edit the rule, then `make docs` -->"
_GRAVITY = {3: "ends training", 2: "spoils the result", 1: "costs quality"}


def pages() -> dict[str, str]:
    """File names and contents."""
    load()
    known = dict(sorted(rules.items()))
    found = {f"{name}.md": _page(rule) for name, rule in known.items()}
    return {INDEX: _index(known), **found}


def write(folder: Path) -> list[Path]:
    """Write the pages that are not as they should be; pages of rules that are gone are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    changed = []
    for name, text in wanted.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    for path in folder.glob("*.md"):
        if path.name not in wanted and _MADE_HERE in path.read_text(encoding="utf-8"):
            path.unlink()
            changed.append(path)
    return changed


def _index(known: dict[str, Rule]) -> str:
    lines = [
        "# The doctor's rules",
        "",
        _MADE_HERE,
        "",
        "A rule turns what was measured during a run into a finding. Its id is what reports and",
        "`--json` name, what `--ignore` takes, and what the comment `# whygrad: ignore[id]` on a",
        "line silences. `--threshold dead-relu.dead=0.9` changes a threshold.",
        "",
        f"The tiers, in causal order: {', '.join(TIERS)}. A finding is explained by one of an",
        "earlier tier that was seen no later; exceptions stand on the pages.",
        "",
        "| rule | what is wrong | gravity | tier |",
        "| --- | --- | --- | --- |",
    ]
    for name, rule in known.items():
        gravity = _GRAVITY.get(rule.severity, str(rule.severity))
        lines.append(f"| [`{name}`]({name}.md) | {escaped(rule.title)} | {gravity} | {rule.tier} |")
    return "\n".join(lines) + "\n"


def _page(rule: Rule) -> str:
    parts = [f"# {escaped(rule.title)}", _MADE_HERE]
    tier = f" · tier `{rule.tier}`" if rule.tier else ""
    parts.append(f"`{rule.id}` · {_GRAVITY.get(rule.severity, str(rule.severity))}{tier}")
    parts += _chapter("What it means", rule.meaning)
    parts += _chapter("How it is measured", rule.measured)
    if rule.thresholds:
        rows = [
            f"| `{name}` | {value:g} | {escaped(rule.reasons.get(name, ''))} |"
            for name, value in rule.thresholds.items()
        ]
        table = "\n".join(("| threshold | value | why |", "| --- | ---: | --- |", *rows))
        parts += ["## Thresholds", table]
    parts += _chapter("Fix", rule.fix)
    parts += _chapter("Guardrail", rule.guardrail)
    for title, names in (
        ("What it explains", explained(rule)),
        ("What explains it", explaining(rule)),
    ):
        if names:
            parts += [f"## {title}", f"Findings of {', '.join(map(_linked, names))}."]
    parts.append(f"[All rules]({INDEX})")
    return "\n\n".join(parts) + "\n"


def _linked(name: str) -> str:
    return f"[`{name}`]({name}.md)" if name in rules else f"the tier {name}"


def _chapter(title: str, text: str) -> list[str]:
    """A heading and its text; its code is a piece of somebody's program, not one to run."""
    blocks = advice(text)
    if not blocks:
        return []
    found = [f"## {title}"]
    for block in blocks:
        language = "text" if isinstance(block, Code) else ""
        found += block_text(block, language)
    return found
