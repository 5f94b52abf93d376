"""The page of PyTorch's names is in step with the two libraries, and says what is true."""

from __future__ import annotations

import pytest

import whygrad
from scripts import names


@pytest.fixture(scope="module")
def found() -> list[names.Space]:
    return names.spaces()


def test_nine_in_ten_names_are_here(found: list[names.Space]) -> None:
    assert names.share(found) >= 0.9, f"{names.share(found):.1%}"


def test_the_page_is_in_step() -> None:
    assert names.PAGE.read_text(encoding="utf-8") == names.page() + "\n", "run `make docs`"


def test_a_name_has_one_fate(found: list[names.Space]) -> None:
    for space in found:
        listed = [
            *space.here,
            *space.lacking,
            *(n for each in space.refused.values() for n in each),
        ]
        assert len(listed) == len(set(listed)), space.name


def test_what_is_refused_is_not_here(found: list[names.Space]) -> None:
    both = {
        name
        for space in found
        for refused in space.refused.values()
        for name in refused
        if hasattr(names.namespace(whygrad, space.name), name)
    }
    assert both == {"Value"}  # TorchScript's there, the scalar engine's here


def test_a_refused_name_says_why() -> None:
    with pytest.raises(AttributeError, match="quantised tensors are not supported"):
        whygrad.quantize_per_tensor  # noqa: B018
    assert not hasattr(whygrad, "quantize_per_tensor")
    with pytest.raises(AttributeError, match=r"module 'whygrad' has no attribute 'bogus'$"):
        whygrad.bogus  # noqa: B018
