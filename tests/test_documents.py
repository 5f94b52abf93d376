"""Every Python example in the documents runs, and prints what the document says it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.documents import (
    DOCUMENTS,
    EXAMPLE,
    IMAGES,
    ROOT,
    command_output,
    main,
    refreshed,
    run,
)

EXCERPT = re.compile(r"^```text\n\$ whygrad (.*?)\n(.*?)^```\n", re.S | re.M)


def examples() -> list[object]:
    found = []
    for document in DOCUMENTS:
        for number, match in enumerate(EXAMPLE.finditer(document.read_text()), 1):
            name = f"{document.relative_to(ROOT)}-{number}"
            found.append(pytest.param(match[1], match[2], id=name))
    return found


@pytest.mark.parametrize(("source", "expected"), examples())
def test_example(source: str, expected: str | None) -> None:
    printed, drawn = run(source)
    if expected is not None:
        assert printed.strip() == expected.strip(), "run `make docs` if the new output is right"
    for name, picture in drawn.items():
        assert picture == (IMAGES / name).read_text(), "run `make docs` if the new picture is right"


def excerpts() -> list[object]:
    """Parts of what a command prints; but for doctors of programs that draw a seed of their own."""
    return [
        pytest.param(match[1], match[2].splitlines(), id=f"{document.name}: {match[1]}")
        for document in DOCUMENTS
        for match in EXCERPT.finditer(document.read_text())
        if not match[1].startswith("doctor")
    ]


@pytest.mark.parametrize(("command", "shown"), excerpts())
def test_excerpt(command: str, shown: list[str]) -> None:
    printed = iter(command_output(command).splitlines())
    missing = [line for line in shown if line != "…" and line not in printed]
    assert not missing, "these lines are not printed, or not in this order"


def test_a_timing_alone_does_not_rewrite_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "<!-- whygrad tour -->\n```text\n╭────╮\n│ 99 % after 0.9 s │\n╰────╯\n```\n"
    output = "╭─────╮\n│ 99 % after 10.7 s │\n╰─────╯"
    monkeypatch.setattr("scripts.documents.command_output", lambda _: output)
    assert refreshed(text) == text
    output = output.replace("99", "98")
    assert "98 % after 10.7 s" in refreshed(text)


def test_help_rewrites_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("scripts.names.main", lambda: pytest.fail("it began"))
    monkeypatch.setattr("sys.argv", ["documents", "--help"])
    with pytest.raises(SystemExit):
        main()
    assert "rerun what the documents show" in capsys.readouterr().out


def test_the_op_in_the_contributing_guide_passes_the_suite() -> None:
    """The guide promises that one entry is enough; so it is."""
    from tests.conformance.derivatives.test_derivatives import test_first_order, test_second_order
    from tests.conformance.test_memory import test_saved_values_are_as_declared
    from tests.conformance.test_table import test_meta_agrees_on_shapes, test_row_is_complete
    from whygrad.ops.define import table

    guide = (ROOT / "CONTRIBUTING.md").read_text()
    entry = next(match[1] for match in EXAMPLE.finditer(guide) if "softsquare" in match[1])
    namespace: dict[str, object] = {"__name__": "whygrad.ops.activation.smooth"}
    exec("import numpy as np\nfrom whygrad.ops.define import elementwise\n" + entry, namespace)
    op = table["softsquare"]
    try:
        test_row_is_complete(op)
        assert op.saves() == ("x",)
        for check in (
            test_first_order,
            test_second_order,
            test_saved_values_are_as_declared,
            test_meta_agrees_on_shapes,
        ):
            check(op)
    finally:
        del table["softsquare"]


def test_the_rule_in_the_contributing_guide_finds_its_fault(tmp_path: Path) -> None:
    """The guide promises that one file is enough; so it is."""
    from tests.doctor.asking import ask
    from whygrad.doctor import rules

    guide = (ROOT / "CONTRIBUTING.md").read_text()
    module = next(match[1] for match in EXAMPLE.finditer(guide) if "constant_target" in match[1])
    exec(module, {"__name__": "whygrad.doctor.rules.data.constant"})
    text = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    loss = F.mse_loss(model(x), {target})
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    try:
        assert rules["constant-target"].tier == "data"
        same = text.format(target="torch.full((64, 1), 3.0)")
        (found,) = ask(tmp_path, "constant-target", same, "whygrad")
        assert found.certainty == "possible"
        assert "all targets are 3" in found.evidence[0]
        assert not ask(tmp_path, "constant-target", text.format(target="y"), "whygrad")
    finally:
        del rules["constant-target"]
