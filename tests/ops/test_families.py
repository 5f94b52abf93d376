"""Families of ops come from the table; names of ops stand nowhere else in the doctor."""

from __future__ import annotations

from pathlib import Path

import pytest

import whygrad
from scripts.opnames import offenders
from whygrad.ops import families
from whygrad.ops.define import table
from whygrad.ops.families import (
    ACTIVATIONS,
    ADD,
    CONVOLUTIONS,
    DIFFERENCES,
    DROPOUTS,
    ELEMENTWISE,
    LOSSES,
    MUL,
    RESHAPING,
    RISKY,
    SUB,
    VIEWS,
    Family,
)
from whygrad.ops.spellings import row_of, shared_name, spelled


@pytest.mark.parametrize(
    ("name", "op", "on_tape"),
    [
        ("add", "add", "add"),
        ("__iadd__", "add", "add_"),
        ("__radd__", "add", "add"),
        ("__rsub__", "sub", "rsub"),
        ("__rtruediv__", "div", "rdiv"),
        ("itruediv", "div", "div_"),
        ("clip_", "clamp", "clamp_"),
        ("multiply", "mul", "mul"),
        ("half", "cast", "cast"),
        ("__float__", "float", "float"),
        ("__getitem__", "getitem", "getitem"),
        ("histc", "histc", "histc"),
    ],
)
def test_one_op_has_many_names(name: str, op: str, on_tape: str) -> None:
    assert (spelled(name).op, spelled(name).on_tape) == (op, on_tape)


def test_special_cases_share_the_words_about_an_op() -> None:
    assert (shared_name("mm"), shared_name("relu")) == ("matmul", "relu")


def test_the_row_of_a_late_op_is_found() -> None:
    row = row_of("conv_tbc")
    assert row is not None
    assert row.name == "conv_tbc"
    assert row_of("no_such_op") is None


def test_a_family_knows_every_spelling() -> None:
    assert all(name in ADD for name in ("add", "add_", "__iadd__", "radd"))
    assert "rsub" in DIFFERENCES
    assert "rsub" not in SUB
    assert "mul_" in ADD | MUL
    assert "sub" not in ADD | MUL
    assert "relu_" in ELEMENTWISE


def test_families_join_what_lists_had_apart() -> None:
    dimensions = ("1d", "2d", "3d")
    assert all(f"conv{each}" in CONVOLUTIONS for each in dimensions)
    assert all(f"conv_transpose{each}" in CONVOLUTIONS for each in dimensions)
    assert "convolution" in CONVOLUTIONS  # what whygrad's own tape calls all of them
    assert all(f"dropout{each}" in DROPOUTS for each in dimensions)
    assert all(name in VIEWS for name in ("T", "data", "narrow", "select", "view_as", "getitem"))
    assert all(name in RESHAPING for name in ("mT", "moveaxis", "squeeze_", "half", "to"))


def test_families_follow_the_folders_of_the_table() -> None:
    public = [op.name for op in table.values() if not op.internal]
    losses = [name for name in public if name.endswith("_loss")]
    assert losses
    assert all(name in LOSSES for name in losses)
    assert not any(name in LOSSES for name in ("cosine_similarity", "pairwise_distance"))
    assert "softmax" not in ACTIVATIONS
    assert "dropout" not in ACTIVATIONS


def test_what_is_undefined_somewhere_is_risky() -> None:
    assert all(name in RISKY for name in ("log", "div_", "rdiv", "sqrt", "acos", "exp"))
    assert not any(name in RISKY for name in ("norm", "atan2", "relu"))  # finite slopes at 0


@pytest.mark.parametrize("name", [each for each in families.__all__ if each != "Family"])
def test_every_family_has_members(name: str) -> None:
    family = getattr(families, name)
    # Steps of the language, and a function of PyTorch that is one call there.
    steps = ("getitem", "setitem", "rdiv", "rpow", "rsub", "multi_head_attention_forward")
    assert isinstance(family, Family)
    assert any(each in family for each in (*table, *steps))


def test_no_result_leaves_the_image_of_its_op() -> None:
    import numpy as np

    values = np.concatenate([np.linspace(-50, 50, 1001), [0.0, 1e-30, -1e-30]])
    rows = [op for op in table.values() if op.image is not None]
    assert len(rows) > 10
    for op in rows:
        parameters = [(0,)] if "dim" in op.param_names else [1.0, 20.0][: len(op.param_names)]
        low, high = op.image
        result = op.forward(values, *parameters)
        assert (result >= low).all(), op.name
        assert (result <= high).all(), op.name


def test_the_doctor_names_no_ops() -> None:
    assert offenders() == []


def test_anomaly_mode_names_no_ops() -> None:
    assert offenders(Path(whygrad.autograd.__file__).parent / "anomaly_mode") == []


def test_the_check_finds_lists_and_comparisons(tmp_path: Path) -> None:
    text = 'NAMES = ("relu", "sigmoid_")\nword = ("relu", "a word")\nhit = call.op == "exp"\n'
    (tmp_path / "planted.py").write_text(text + 'fine = reduction == "mean"\n', encoding="utf-8")
    found = offenders(tmp_path)
    assert [each.partition(": ")[0] for each in found] == ["planted.py:1", "planted.py:3"]
