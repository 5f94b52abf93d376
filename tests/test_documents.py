"""Every Python example in the documents runs, and prints what the document says it prints."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.S | re.M)


def examples() -> list[object]:
    found = []
    for document in DOCUMENTS:
        text = document.read_text()
        for number, match in enumerate(BLOCK.finditer(text), 1):
            name = f"{document.relative_to(ROOT)}-{number}"
            found.append(pytest.param(match[1], match[2], id=name))
    return found


@pytest.mark.parametrize(("source", "expected"), examples())
def test_example(
    source: str,
    expected: str | None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = source.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "example.py", (len(source), None, lines, "example.py"))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "example.py", "exec"), {"__name__": "example"})
    if expected is not None:
        assert printed.getvalue().strip() == expected.strip()


def test_the_op_in_the_contributing_guide_passes_the_suite() -> None:
    """The guide promises that one entry is enough; so it is."""
    from tests.conformance.test_derivatives import test_first_order, test_second_order
    from tests.conformance.test_memory import test_saved_values_are_as_declared
    from tests.conformance.test_table import test_meta_agrees_on_shapes, test_row_is_complete
    from whygrad.ops.define import table
    from whygrad.ops.samples import samples_of

    guide = (ROOT / "CONTRIBUTING.md").read_text()
    entry = next(match[1] for match in BLOCK.finditer(guide) if "softsquare" in match[1])
    namespace: dict[str, object] = {"__name__": "whygrad.ops.activation.smooth"}
    exec("import numpy as np\nfrom whygrad.ops.define import elementwise\n" + entry, namespace)
    op = table["softsquare"]
    try:
        test_row_is_complete(op)
        assert op.saves() == ("x",)
        for index in range(len(samples_of(op))):
            for check in (
                test_first_order,
                test_second_order,
                test_saved_values_are_as_declared,
                test_meta_agrees_on_shapes,
            ):
                check(op, index)
    finally:
        del table["softsquare"]
