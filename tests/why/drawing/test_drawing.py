"""What a picture says: words, states of a gradient, what is left out, and valid SVG and DOT."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.why import flows
from whygrad.why.drawing import svg, to_dot
from whygrad.why.drawing.amounts import LEVELS, Scale, State, measure, number
from whygrad.why.drawing.content import compose
from whygrad.why.drawing.look import ALARM, BROKEN, INK, PAPER, RAMP, ZERO, card_look
from whygrad.why.drawing.selection import choose, hidden_links
from whygrad.why.drawing.typography import clean, shorten
from whygrad.why.flow import Flow

NAMESPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    'say "hi"',
    r"back\slash\n",
    "a < b > c & d",
    "two\nlines",
    "naïve 中文 λ",
    "nul\x00\x1b",
    "\\",
]


def card(flow: Flow, name: str):
    return next(c for c in compose(flow).cards if c.title == name)


def texts(source: str) -> list[str]:
    return [element.text for element in ElementTree.fromstring(source).iter(f"{NAMESPACE}text")]


def one_box(value=1.0, gradient=1.0, name="x") -> Flow:
    return flows.sketch([(name, None, value, gradient, [])])


class TestWords:
    def test_a_box_says_name_op_value_and_gradient(self):
        assert card(flows.diamond(), "a - c").lines == ("sub", "value −2", "grad 10")
        assert card(flows.diamond(), "c").lines == ("leaf", "value 4", "grad −12")

    def test_tensors_have_a_shape_and_a_norm(self):
        flow = one_box(np.zeros((3, 4), np.float32), np.full((3, 4), 2.0, np.float32))
        assert card(flow, "x").lines == ("leaf", "float32[3, 4]", "‖grad‖ 6.928")

    def test_edges_carry_their_contribution_with_its_sign(self):
        picture = compose(flows.diamond())
        labels = {
            (picture.cards[w.source].title, picture.cards[w.consumer].title): w.label
            for w in picture.wires
        }
        assert labels == {
            ("a", "a*b"): "−6",
            ("b", "a*b"): "−4",
            ("a*b", "a*b + c"): "−2",
            ("c", "a*b + c"): "−2",
            ("a", "a - c"): "+10",
            ("c", "a - c"): "−10",
            ("a*b + c", "L"): "−2",
            ("a - c", "L"): "+10",
        }

    def test_a_value_used_twice_has_two_edges(self):
        flow = flows.sketch(
            [("a", None, 2.0, 2.0, []), ("a + a", "add", 4.0, 1.0, [("a", 1.0)] * 2)]
        )
        assert [wire.label for wire in compose(flow).wires] == ["+1", "+1"]

    def test_an_operator_is_introduced_as_one(self):
        flow = flows.sketch([("a", None, 2.0, 1.0, []), ("b", "-", 2.0, 1.0, [("a", 1.0)])])
        assert card(flow, "b").lines[0] == "op -"

    def test_long_names_are_cut_in_the_middle_and_kept_whole_in_the_hint(self):
        name = "softmax(query @ key.transpose(-2, -1) / scale)"
        only = compose(one_box(name=name)).cards[0]
        assert only.title == f"{name[:14]}…{name[-13:]}"
        assert len(only.title) == 28
        assert only.hint.startswith(name + "\n")

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (-6.0, "−6"),
            (0.0, "0"),
            (-0.0, "0"),
            (1e-7, "1e−07"),
            (float("nan"), "NaN"),
            (123456.0, "1.235e+05"),
        ],
    )
    def test_numbers_are_short(self, value, text):
        assert number(value) == text

    def test_shorten_and_clean(self):
        assert [shorten("abcdefgh", most) for most in (8, 7, 4)] == ["abcdefgh", "abc…fgh", "ab…h"]
        assert clean(" a\n\tb\x07 ") == "a b�"


class TestStates:
    def test_absent_zero_number_and_broken_are_four_states(self):
        states = [
            measure(g).state
            for g in (None, 0.0, np.zeros(3), -2.0, float("nan"), np.array([1, np.inf]))
        ]
        assert states == [
            State.ABSENT,
            State.ZERO,
            State.ZERO,
            State.NUMBER,
            State.BROKEN,
            State.BROKEN,
        ]

    def test_not_computed_looks_and_reads_unlike_zero(self):
        zero, absent = card(one_box(gradient=0.0), "x"), card(one_box(gradient=None), "x")
        assert (zero.lines[-1], absent.lines[-1]) == ("grad 0", "grad not computed")
        zero_look, absent_look = card_look(zero, None), card_look(absent, None)
        assert (zero_look.fill, zero_look.pattern) == (ZERO, "solid")
        assert (absent_look.fill, absent_look.pattern) == (PAPER, "dashed")

    def test_the_edge_of_a_value_without_gradient_is_dashed_and_bare(self):
        wires = compose(flows.mlp()).wires
        assert (wires[0].label, wires[0].amount.state) == (None, State.ABSENT)
        assert 'style="dashed"' in to_dot(flows.mlp()).split("b0 -> ")[1].splitlines()[0]

    def test_a_missing_contribution_to_a_computed_gradient_is_named(self):
        flow = flows.sketch([("a", None, 2.0, 2.0, []), ("y", "exp", 4.0, 1.0, [("a", None)])])
        assert compose(flow).wires[0].label == "not computed"

    def test_nan_and_inf_are_loud(self):
        gradient = np.array([1.0, np.nan, np.inf, np.nan])
        broken = card(one_box(np.ones(4), gradient), "x")
        assert broken.lines[-1] == "grad: 2 of 4 NaN, 1 inf"
        assert card_look(broken, None).fill == BROKEN
        assert card_look(broken, None).stroke == ALARM

    def test_a_nan_value_is_loud_but_a_mask_of_infinities_is_not(self):
        mask = card(flows.attention(), "mask")
        assert (mask.broken, mask.lines[1]) == (False, "float32[12, 12], 66 of 144 inf")
        assert card(one_box(value=float("nan")), "x").broken

    def test_roles_differ_without_colour(self):
        picture = compose(flows.diamond())
        looks = {c.title: card_look(c, picture.scale) for c in picture.cards}
        assert looks["b"].rounded
        assert not looks["a*b"].rounded
        assert looks["L"].double
        assert not looks["a*b"].double
        assert looks["a"].thickness > 2 * looks["b"].thickness

    def test_sizes_do_not_overflow_or_vanish(self):
        assert measure(np.full(4, 1e200)).size == pytest.approx(2e200)
        assert measure(np.full(4, 1e-200)).size == pytest.approx(2e-200)
        assert measure(np.full(4, 300, np.float16)).size == pytest.approx(600)
        assert measure(np.array([3j, 4.0])).size == pytest.approx(5)


class TestScale:
    def test_steps_are_equal_in_the_logarithm(self):
        scale = Scale.of(measure(value) for value in (1.0, 1e5))
        assert [scale.level(3 * 10.0**power) for power in range(5)] == list(range(LEVELS))
        assert scale.level(1e5) == LEVELS - 1

    def test_similar_sizes_look_alike(self):
        scale = Scale.of(measure(value) for value in (4.0, 5.0))
        assert scale.level(4.0) == scale.level(5.0)

    def test_what_is_below_the_scale_is_said(self):
        scale = Scale.of(measure(value) for value in (1e-300, 1.0))
        assert scale.clipped
        assert scale.level(1e-300) == 0
        assert any(
            "≤ 1e−08" in text
            for text in texts(
                svg(
                    flows.sketch(
                        [("a", None, 1.0, 1e-300, []), ("y", "mul", 1.0, 1.0, [("a", 1e-300)])]
                    )
                )
            )
        )

    @pytest.mark.parametrize("size", [5e-324, 1.7e308])
    def test_extremes_have_a_level(self, size):
        assert Scale.of([measure(size)]).level(size) in range(LEVELS)

    def test_no_number_no_scale(self):
        assert Scale.of([measure(0.0), measure(None), measure(float("nan"))]) is None


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_is_readable_on_every_fill_and_steps_differ_in_lightness():
    for fill in (*RAMP, ZERO, BROKEN, PAPER):
        assert (luminance(fill) + 0.05) / (luminance(INK) + 0.05) >= 4.5
    assert all(lighter > darker + 0.05 for lighter, darker in pairwise(map(luminance, RAMP)))


class TestLargeFlows:
    @pytest.mark.parametrize(
        "flow", [flows.chain(1000), flows.fan(1998), flows.random_flow(1, 2000)]
    )
    def test_what_is_left_out_is_said(self, flow):
        picture = compose(flow)
        missing = len(flow.boxes) - len(picture.cards)
        assert len(picture.cards) == 60
        assert picture.left_out == f"+ {missing} more boxes not drawn"
        assert picture.left_out in texts(svg(flow))
        assert picture.left_out in to_dot(flow)
        assert sum(c.root for c in picture.cards) == sum(c.target for c in picture.cards) == 1

    def test_nothing_is_said_when_everything_is_drawn(self):
        assert compose(flows.diamond()).left_out is None
        assert "not drawn" not in svg(flows.diamond())

    def test_the_largest_contributions_are_kept(self):
        drawn = {box.name for box in choose(flows.fan(200), 20)}
        assert drawn == {"x", "total"} | {f"x * {use}" for use in range(182, 200)}

    def test_boxes_count_their_edges_that_are_not_drawn(self):
        picture = compose(flows.fan(200), most=20)
        notes = {c.title: c.lines[3:] for c in picture.cards}
        assert notes["x"] == ("182 uses not drawn",)
        assert notes["total"] == ("182 inputs not drawn",)
        assert notes["x * 199"] == ()

    @pytest.mark.parametrize("seed", range(5))
    def test_drawn_boxes_are_joined_exactly_as_in_the_flow(self, seed):
        flow = flows.random_flow(seed, 80)
        drawn = choose(flow, 15)
        links = hidden_links(flow, drawn)
        assert drawn == [box for box in flow.boxes if box in set(drawn)]
        truth, shown = {}, {}
        for box in flow.boxes:
            sources = [edge.source for edge in box.inputs]
            truth[box] = set(sources).union(*(truth[source] for source in sources))
        for box in drawn:
            sources = [e.source for e in box.inputs if e.source in set(drawn)]
            sources += [above for above, below in links if below is box]
            shown[box] = set(sources).union(*(shown[source] for source in sources))
            assert shown[box] == truth[box] & set(drawn)

    def test_a_picture_of_one_box_is_refused(self):
        with pytest.raises(
            ValueError, match=r"most=1\)\n  cause: a picture needs at least two boxes"
        ):
            svg(flows.diamond(), most=1)


class TestSvg:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_any_name_gives_valid_xml(self, name):
        root = ElementTree.fromstring(svg(one_box(name=name)))
        assert clean(name) in texts(ElementTree.tostring(root, "unicode"))

    def test_it_is_accessible(self):
        root = ElementTree.fromstring(svg(flows.diamond()))
        assert root.get("role") == "img"
        assert [child.tag for child in root][:2] == [f"{NAMESPACE}title", f"{NAMESPACE}desc"]
        assert root[0].text == "Backward from L, asked about a"
        assert "7 boxes and 8 edges" in root[1].text
        assert "a, leaf, value 2, grad 4." in root[1].text

    def test_the_legend_explains_what_occurs_and_nothing_else(self):
        words = texts(svg(flows.diamond()))
        assert "size of gradients, 1 to 12, log scale" in words
        assert {"leaf", "result of an op", "backward started here", "asked about"} <= set(words)
        assert not {"exactly 0", "not computed", "NaN or inf"} & set(words)
        assert {"exactly 0", "not computed"} <= set(texts(svg(flows.mlp())))

    def test_no_ids_that_could_clash_in_a_page(self):
        assert " id=" not in svg(flows.attention())

    @pytest.mark.parametrize(
        "make", [flows.diamond, flows.attention, lambda: flows.random_flow(7, 300)]
    )
    def test_the_same_flow_gives_the_same_bytes(self, make):
        assert svg(make()) == svg(make())
        assert to_dot(make()) == to_dot(make())


class TestDot:
    STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

    @pytest.mark.parametrize("name", HOSTILE)
    def test_any_name_stays_within_its_quotes(self, name):
        source = to_dot(one_box(name=name))
        assert re.fullmatch(r"[\w\s{}\[\]=,;>-]*", self.STRING.sub("", source))
        label = re.search(r'b0 \[label=("(?:[^"\\]|\\.)*")', source)[1][1:-1]
        shown = re.sub(r"\\(.)", lambda found: found[1].replace("n", "\n"), label)
        assert shown.splitlines()[0].replace("&amp;", "&") == clean(name)

    def test_states_and_roles(self):
        lines = to_dot(flows.mlp()).splitlines()
        by_name = {
            match[1]: line
            for line in lines
            if (match := re.search(r'b\d+ \[label="(.*?)\\n', line))
        }
        assert "dashed" in by_name["x"]
        assert "grad not computed" in by_name["x"]
        assert ZERO in by_name["b2"]
        assert 'penwidth="4"' in by_name["W1"]
        assert 'peripheries="2"' in by_name["loss"]
        assert "rounded" in by_name["W2"]
        assert "rounded" not in by_name["logits"]

    def test_edges(self):
        assert 'b0 -> b3 [label=" −6 "' in to_dot(flows.diamond())
