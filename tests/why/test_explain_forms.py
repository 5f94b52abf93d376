"""An explanation as text, HTML, JSON and a picture."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import whygrad
from whygrad import Value
from whygrad.why.explanation import Explanation


def of_numbers() -> Explanation:
    a, b, c = Value(2.0, label="a<b>"), Value(3.0), Value(4.0)
    loss = (a * b + c) * (a - c)
    return whygrad.explain(loss, wrt=a)


def of_many_paths() -> Explanation:
    x = y = Value(1.0)
    for _ in range(80):
        y = y * 0.5 + y * 0.6
    return whygrad.explain(y, wrt=x, max_paths=2)


def of_tensors() -> Explanation:
    x, w = whygrad.ones(4, 3), whygrad.ones(3, 2, requires_grad=True)
    b = whygrad.ones(2, requires_grad=True)
    b.name = "<bias>"
    loss = (x @ w + b).square().sum() + (b * 1e30).sum() * 1e30
    return whygrad.explain(loss, wrt=b)


def of_one_element() -> Explanation:
    x, w = whygrad.ones(9, 3), whygrad.ones(3, 2, requires_grad=True)
    w.register_hook(lambda gradient: None)
    return whygrad.explain((x @ w).square().sum(), wrt=w, index=(0, 1))


def of_the_result() -> Explanation:
    x = Value(1.0)
    y = x * 2
    return whygrad.explain(y, wrt=y)


EVERY = [of_numbers, of_many_paths, of_tensors, of_one_element, of_the_result]


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize("width", [10, 60, 80, 100])
def test_text_keeps_to_its_width(make: Any, width: int) -> None:
    lines = make().text(width).splitlines()
    assert max(map(len, lines)) <= max(width, 60)
    assert lines == [line.rstrip() for line in lines]


def test_text_takes_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    explanation = of_tensors()
    for columns, width in ((70, 70), (20, 60), (300, 100)):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert str(explanation) == explanation.text(width)


@pytest.mark.parametrize("make", EVERY)
def test_json(make: Any) -> None:
    explanation = make()
    record = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert record["schema"] == "whygrad.explanation/1"
    assert list(record) == [
        "schema",
        "engine",
        "y",
        "wrt",
        "index",
        "gradient",
        "total",
        "residual",
        "contributions",
        "paths",
        "notes",
    ]
    assert len(record["contributions"]) == len(explanation.contributions)


def test_json_of_the_diamond() -> None:
    record = of_numbers().to_dict()
    assert record["gradient"] == {"shape": [], "norm": 4.0, "value": 4.0}
    assert record["paths"]["count"] == 2
    assert record["paths"]["left_out"] == 0
    first, second = record["paths"]["shown"]
    assert (first["product"], second["product"]) == (-6.0, 10.0)
    assert [each["slope"] for each in first["factors"]] == [-2.0, 1.0, 3.0]
    assert [each["of"] for each in first["factors"]] == ["loss", "a * b + c", "a * b"]
    assert first["factors"][0]["where"]["text"] == "loss = (a * b + c) * (a - c)"


def test_json_of_large_numbers() -> None:
    record = of_many_paths().to_dict()
    assert record["paths"]["count"] == str(2**80)
    infinite = of_tensors().to_dict()
    assert infinite["gradient"]["norm"] == "inf"
    assert infinite["contributions"][0]["summed_axes"] == [0]
    assert infinite["contributions"][0]["summed_from_shape"] == [4, 2]


def test_json_of_a_long_path() -> None:
    x = y = Value(1.0)
    for _ in range(1000):
        y = y * 1.001
    (path,) = whygrad.explain(y, wrt=x).to_dict()["paths"]["shown"]
    assert len(path["factors"]) == 200
    assert path["factors_left_out"] == 800


def test_json_of_one_element() -> None:
    (use,) = of_one_element().to_dict()["contributions"]
    assert use["element"] == pytest.approx(54.0)
    assert use["terms"]["count"] == 9
    assert len(use["terms"]["largest"]) == 4
    assert use["terms"]["left_out_sum"] == pytest.approx(30.0)
    assert use["terms"]["largest"][0] == {
        "index": [0, 1],
        "incoming": 6.0,
        "slope": 1.0,
        "product": 6.0,
    }


class _Balance(HTMLParser):
    """Collects the tags that are open, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        """Opens nothing."""

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("make", EVERY)
def test_html(make: Any) -> None:
    explanation = make()
    html = explanation._repr_html_()
    page = _Balance()
    page.feed(html)
    assert page.open == []
    assert "<svg" in html
    assert "<script" not in html
    assert explanation.text(100).splitlines()[0] in page.text
    for note in explanation.notes:
        assert note in page.text


@pytest.mark.parametrize(
    ("make", "name", "escaped"),
    [(of_numbers, "a<b>", "a&lt;b&gt;"), (of_tensors, "<bias>", "&lt;bias&gt;")],
)
def test_html_escapes_names(make: Any, name: str, escaped: str) -> None:
    html = make()._repr_html_()
    assert name not in html
    assert escaped in html


def test_pictures(tmp_path: Path) -> None:
    explanation = of_numbers()
    assert explanation.to_dot().startswith("digraph")
    for name in ("diamond.svg", "diamond.png"):
        explanation.draw(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 500


def test_repr_is_one_line() -> None:
    assert repr(of_numbers()) == "<Explanation of loss, wrt=a<b>: 4 from 2 contributions>"
    assert repr(of_one_element()).endswith("shape (3, 2), norm 132.3 from 1 contribution>")


def test_side_inputs_have_their_gradients_where_they_are_complete() -> None:
    a, b, c = (whygrad.tensor(each, requires_grad=True) for each in (2.0, 3.0, 4.0))
    side = b * 1
    loss = (a * side + c) * (a - c) + b
    flow = whygrad.explain(loss, wrt=a).flow
    gradients = {box.name: box.gradient for box in flow.boxes}
    assert gradients["side"] == -4.0
    assert gradients["c"] == -12.0
    assert gradients["b"] is None  # `side`, which uses it, too, was not run
    assert gradients["a"] == 4.0


def test_values_on_the_way_are_kept() -> None:
    a, b = whygrad.tensor([1.0, 2.0], requires_grad=True), whygrad.tensor([3.0, 4.0])
    loss = ((a * b) * (a + 1)).sum()
    values = {box.name: box.value for box in whygrad.explain(loss, wrt=a).flow.boxes}
    assert values["a * b"].tolist() == [3.0, 8.0]  # saved by the second product
    assert values["b"].tolist() == [3.0, 4.0]  # a constant
    assert values["loss"] == 30.0  # the variable still holds it
