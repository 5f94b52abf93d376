"""PyTorch's dotted paths lead to the very modules that stand elsewhere."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from whygrad.aliases import ALIASES, real_name


@pytest.mark.parametrize("path", ALIASES)
def test_an_alias_is_the_module_itself(path: str) -> None:
    found = importlib.import_module(f"whygrad.{path}")
    real = importlib.import_module(f"whygrad.{ALIASES[path]}")
    assert found is real
    assert real.__spec__ is not None
    assert real.__spec__.name == real.__name__ == f"whygrad.{ALIASES[path]}"


def test_what_is_inside_an_aliased_package_moves_with_it() -> None:
    from whygrad.data import collate
    from whygrad.utils.data._utils import collate as same

    assert same is collate
    assert importlib.import_module("whygrad.utils.data._utils.collate") is collate


def test_other_paths_are_left_alone() -> None:
    assert real_name("whygrad.nn.Linear") is None
    assert real_name("torch.utils.data.dataset") is None
    with pytest.raises(ModuleNotFoundError, match=r"whygrad\.utils\.data\.bogus"):
        importlib.import_module("whygrad.utils.data.bogus")


def test_an_alias_can_be_the_first_import() -> None:
    program = "import whygrad.utils.data.sampler as s; assert s.__name__ == 'whygrad.data.samplers'"
    subprocess.run([sys.executable, "-c", program], check=True)
