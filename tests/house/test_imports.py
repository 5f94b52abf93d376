"""Packages import in one direction: what stands above knows what stands below."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import whygrad
from scripts.imports import cycles, graph, imports_between
from whygrad.tensor.above import above

SOURCE = Path(whygrad.__file__).parent

# From the ground up; packages in one line do not know each other.
LAYERS = (
    "aliases refused source threads trees",
    "errors",
    "tensor",
    "random",
    "dispatch",
    "ops",
    "amp fast",
    "autograd",
    "func",
    "compat hardware scalar testing",
    "nn",
    "data files optim distributions",
    "training utils",
    "why",
    "torch",
    "recording",
    "doctor",
    "learn",
    "cli",
    "__main__",
)
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer.split()}


def test_every_package_has_a_layer() -> None:
    assert graph().keys() == HEIGHT.keys(), "say in LAYERS where the new package stands"


@pytest.mark.parametrize("package", sorted(HEIGHT))
def test_imports_point_down(package: str) -> None:
    upwards = [
        line
        for other in sorted(graph()[package])
        if HEIGHT[other] >= HEIGHT[package]
        for line in imports_between(package, other)
    ]
    assert not upwards


def test_no_package_imports_another_in_a_circle() -> None:
    assert cycles() == []


def test_what_layers_below_call_is_provided_above() -> None:
    """``above.name`` is looked up at the first call: too late to find out that nobody has it."""
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    called = {
        node.attr
        for text in texts
        if "import above" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "above"
    }
    assert called - {"homes", "provide"} == above.homes.keys()
    assert all(getattr(above, name) is not None for name in above.homes)


def test_a_name_that_nobody_provides() -> None:
    with pytest.raises(AttributeError, match="no layer provides 'nothing'"):
        _ = above.nothing


def test_recording_is_built_from_the_ground_up() -> None:
    """Who watches may run a step again; who runs one again does not know who watched."""
    floors = ("engines", "replay", "watching", "wrapping")
    for height, floor in enumerate(floors):
        above_it = tuple(f"whygrad.recording.{each}" for each in floors[height + 1 :])
        for path in (SOURCE / "recording" / floor).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module is not None:
                    assert not (above_it and node.module.startswith(above_it)), path
