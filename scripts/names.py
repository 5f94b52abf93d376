"""``python -m scripts.names``: every public name of PyTorch, and what whygrad does with it.

The page ``docs/names.md`` is made from the two libraries as they are installed, never by hand: a
name is *here*, or *refused* (asking for it raises an error that says why; the reasons stand in
:mod:`whygrad.refused`), or *lacking*.  The share counts the names that a CPU can serve: all but
those refused because they speak of other hardware or of the inside of PyTorch.
"""

from __future__ import annotations

import importlib
import inspect
import textwrap
import types
import typing
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch

import whygrad
from whygrad.refused import ELSEWHERE, reason_for

__all__ = ["PAGE", "SPACES", "Space", "main", "namespace", "page", "share", "spaces"]

PAGE = Path(__file__).parent.parent / "docs" / "names.md"
SPACES = ("", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "optim",
          "optim.lr_scheduler", "linalg", "autograd", "func", "utils.data")  # fmt: skip


class Space(NamedTuple):
    """The names of one namespace, sorted by what becomes of them."""

    name: str
    here: list[str]
    refused: dict[str, list[str]]  # by reason
    lacking: list[str]

    @property
    def servable(self) -> int:
        """How many names a CPU can serve."""
        counted = [names for reason, names in self.refused.items() if reason not in ELSEWHERE]
        return len(self.here) + len(self.lacking) + sum(map(len, counted))


def spaces() -> list[Space]:
    return [_sorted_out(name) for name in SPACES]


def share(found: Iterable[Space]) -> float:
    """Of the names that a CPU can serve, how many are here."""
    found = list(found)
    return sum(len(each.here) for each in found) / sum(each.servable for each in found)


def _sorted_out(space: str) -> Space:
    theirs, ours = namespace(torch, space), namespace(whygrad, space)
    here: list[str] = []
    lacking: list[str] = []
    refused: dict[str, list[str]] = {}
    for name in sorted(_public(theirs)):
        reason = reason_for(f"{space}.{name}".lstrip("."))
        if reason is not None:  # also where a name of ours means something else
            refused.setdefault(reason, []).append(name)
        elif hasattr(ours, name):
            here.append(name)
        else:
            lacking.append(name)
    return Space(space, here, refused, lacking)


def namespace(library: Any, space: str) -> Any:
    if space in ("", "Tensor"):
        return library.Tensor if space else library
    return importlib.import_module(f"{library.__name__}.{space}")


def _public(space: Any) -> Iterator[str]:
    """What ``__all__`` lists; where there is none, what is not private and made in PyTorch."""
    listed = getattr(space, "__all__", None)
    if listed is not None:
        yield from {name for name in listed if not name.startswith("_")}
        return
    for name in dir(space):
        if name.startswith("_"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = inspect.getattr_static(space, name)
        if not isinstance(space, types.ModuleType) or _is_pytorchs(value):
            yield name


def _is_pytorchs(value: Any) -> bool:
    if isinstance(value, (types.ModuleType, bool)):
        return getattr(value, "__name__", "").startswith("torch.")
    home = getattr(value, "__module__", None) or "torch"
    return home.startswith("torch") and typing.get_origin(value) is None


def page() -> str:
    found = spaces()
    return "\n".join([*_summary(found), *(line for each in found for line in _section(each))])


def _summary(found: list[Space]) -> Iterator[str]:
    yield "# PyTorch's names, one by one"
    yield ""
    yield textwrap.fill(
        f"Every public name of PyTorch {torch.__version__.partition('+')[0]} in the namespaces "
        "below: whether whygrad has it, refuses it with a reason (asking for it raises an error "
        "that says the same), or lacks it. `make docs` writes this page from the two libraries "
        "(`python -m scripts.names` writes it alone); a test holds it in step. *Servable* are the "
        "names that a CPU can serve: all but those that speak of other hardware or of the inside "
        "of PyTorch.",
        100,
    )
    yield ""
    yield f"**{share(found):.1%} of the names that a CPU can serve are here.**"
    yield ""
    yield "| namespace | names | servable | here | refused | lacking |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for each in found:
        refused = sum(map(len, each.refused.values()))
        total = len(each.here) + refused + len(each.lacking)
        yield (
            f"| {_title(each)} | {total} | {each.servable} | {len(each.here)} "
            f"| {refused} | {len(each.lacking)} |"
        )


def _section(space: Space) -> Iterator[str]:
    yield ""
    yield f"## {_title(space)}"
    yield ""
    yield from _list("Here", space.here)
    for reason, names in sorted(space.refused.items()):
        yield ""
        yield from _list(f"Refused: {reason}", names)
    if space.lacking:
        yield ""
        yield from _list("Lacking", space.lacking)


def _list(heading: str, names: list[str]) -> list[str]:
    text = f"{heading} ({len(names)}): " + " ".join(f"`{name}`" for name in names)
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def _title(space: Space) -> str:
    return "torch." + space.name if space.name else "torch"


def main() -> None:
    PAGE.write_text(page() + "\n")


if __name__ == "__main__":
    main()
