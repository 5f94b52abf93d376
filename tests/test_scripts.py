"""PyTorch scripts run with the import swapped, and print the same numbers.

Each program in ``scripts/`` is run as it stands with PyTorch, and with whygrad after its import
lines were changed and nothing else.  What it prints must be the same text; a number with decimals
may differ by one in the last digit that is shown, since sums are rounded in another order.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import whygrad

SCRIPTS = sorted((Path(__file__).parent / "scripts").rglob("*.py"))
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]\d+)?")


def swapped(source: str) -> str:
    """The program with ``torch`` in its import lines replaced."""
    source = re.sub(r"^import torch$", "import whygrad as torch", source, flags=re.MULTILINE)
    return re.sub(r"^(import|from) torch(?=[. ])", r"\1 whygrad", source, flags=re.MULTILINE)


@contextlib.contextmanager
def one_thread_and_defaults() -> Iterator[None]:
    """Threads cost these small programs more than they bring; defaults are as they were before."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(), whygrad.fork_rng():
            yield
    finally:
        torch.set_num_threads(threads)
        for library in (torch, whygrad):
            library.set_default_dtype(library.float32)


def printed(source: str, name: str) -> str:
    shown = io.StringIO()
    with one_thread_and_defaults(), contextlib.redirect_stdout(shown):
        exec(compile(source, name, "exec"), {"__name__": "__main__"})
    return shown.getvalue()


def same(mine: str, theirs: str) -> bool:
    """Whether two numbers, as they are written, agree."""
    if "." not in theirs:
        return mine == theirs
    digits, _, power = theirs.partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    return abs(float(mine) - float(theirs)) <= 1.001 * unit


def compare(mine: str, theirs: str) -> None:
    for line, expected in zip(mine.splitlines(), theirs.splitlines(), strict=True):
        assert NUMBER.sub("#", line) == NUMBER.sub("#", expected)
        pairs = zip(NUMBER.findall(line), NUMBER.findall(expected), strict=True)
        assert all(same(*pair) for pair in pairs), f"{line}\n{expected}"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script_prints_the_same_with_both(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert re.search(r"^import torch$|^from torch import", source, re.MULTILINE)
    theirs = printed(source, f"torch:{path.name}")
    mine = printed(swapped(source), f"whygrad:{path.name}").replace("whygrad.", "torch.")
    compare(mine, theirs)


def test_only_the_imports_are_swapped() -> None:
    program = (
        "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nx = torch.ones(2)"
    )
    assert swapped(program).splitlines() == [
        "import whygrad as torch",
        "from whygrad import nn",
        "import whygrad.nn.functional as F",
        "x = torch.ones(2)",
    ]


@pytest.mark.parametrize(
    ("mine", "theirs", "verdict"),
    [
        ("loss 0.12340", "loss 0.12341", True),
        ("loss 0.12340", "loss 0.12342", False),
        ("1.000e-03", "1.001e-03", True),
        ("1.000e-03", "1.002e-03", False),
        ("epoch 3", "epoch 4", False),
        ("loss 0.5", "cost 0.5", False),
        ("a 1.0", "a 1.0\nb 2.0", False),
    ],
)
def test_comparison_sees_differences(mine: str, theirs: str, verdict: bool) -> None:
    try:
        compare(mine, theirs)
        agreed = True
    except (AssertionError, ValueError):
        agreed = False
    assert agreed is verdict
