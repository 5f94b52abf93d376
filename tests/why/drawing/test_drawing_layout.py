"""Nothing in a picture lies on top of something else, and wires keep out of boxes."""

from __future__ import annotations

import random
import time
from itertools import combinations, product

import pytest

from tests.why import flows
from whygrad.why.drawing.content import Wire, compose
from whygrad.why.drawing.coordinates import _isotonic
from whygrad.why.drawing.layout import Arrangement, arrange
from whygrad.why.drawing.marks import Frame, Rectangle, Words
from whygrad.why.drawing.ordering import crossings, order
from whygrad.why.drawing.ranks import Link, Vertex, layers, rank
from whygrad.why.drawing.scene import stage
from whygrad.why.drawing.typography import width

CASES = {
    "diamond": flows.diamond(),
    "mlp": flows.mlp(),
    "attention": flows.attention(),
    "fan": flows.fan(30),
    "chain": flows.chain(20),
    "twice": flows.sketch([("a", None, 2.0, 2.0, []), ("a+a", "add", 4.0, 1.0, [("a", 1.0)] * 5)]),
    "alone": flows.sketch([("a", None, 2.0, 1.0, [])]),
    "apart": flows.sketch([("a", None, 2.0, 1.0, []), ("b", None, 2.0, 1.0, [])]),
    "large": flows.random_flow(11, 1000),
    **{f"random {seed}": flows.random_flow(seed, 12 + 2 * seed) for seed in range(20)},
}


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def clashes(layout: Arrangement) -> list[tuple[Rectangle, Rectangle]]:
    placed = [*layout.cards, *(label for label in layout.labels if label is not None)]
    return [(one, other) for one, other in combinations(placed, 2) if overlap(one, other)]


def on_the_way(layout: Arrangement, wires: list[Wire]) -> list[tuple[int, Rectangle]]:
    """Boxes and labels of others that a wire runs through, looked at along all of its pieces."""
    hits = []
    for index, points in enumerate(layout.curves):
        own = {wires[index].source, wires[index].consumer}
        others = [card for place, card in enumerate(layout.cards) if place not in own]
        others += [label for place, label in enumerate(layout.labels) if label and place != index]
        for start in range(0, len(points) - 1, 3):
            p, q, r, s = points[start : start + 4]
            for t in (step / 20 for step in range(21)):
                at = [
                    (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t * t * (1 - t) * c + t**3 * d
                    for a, b, c, d in zip(p, q, r, s)
                ]
                spot = Rectangle(at[0] - 0.1, at[1] - 0.1, 0.2, 0.2)
                hits += [(index, other) for other in others if overlap(spot, other)]
    return hits


@pytest.mark.parametrize("name", CASES)
def test_nothing_overlaps(name):
    picture = compose(CASES[name])
    layout = arrange(picture)
    assert clashes(layout) == []
    assert on_the_way(layout, picture.wires) == []


@pytest.mark.parametrize("name", CASES)
def test_everything_is_within_the_picture_and_text_within_its_room(name):
    scene = stage(compose(CASES[name]))
    for mark in scene.marks:
        if isinstance(mark, Frame):
            at = mark.at
            assert at.x >= 0
            assert at.y >= 0
            assert at.x + at.width <= scene.width
            assert at.y + at.height <= scene.height
        elif isinstance(mark, Words):
            wide = width(mark.text, mark.size, mark.bold)
            left = mark.at[0] - (wide / 2 if mark.centred else 0)
            assert wide <= mark.room + 1e-6
            assert left >= 0
            assert left + wide <= scene.width
            assert mark.at[1] <= scene.height


@pytest.mark.parametrize("name", CASES)
def test_wires_start_and_end_at_their_boxes_and_pass_their_labels(name):
    picture = compose(CASES[name])
    layout = arrange(picture)
    along = 1 if layout.down else 0
    for wire, points, label in zip(picture.wires, layout.curves, layout.labels):
        source, consumer = layout.cards[wire.source], layout.cards[wire.consumer]
        ends = (
            (source.y + source.height, consumer.y)
            if layout.down
            else (source.x + source.width, consumer.x)
        )
        assert (points[0][along], points[-1][along]) == pytest.approx(ends)
        for point, card in ((points[0], source), (points[-1], consumer)):
            assert overlap(Rectangle(point[0] - 1, point[1] - 1, 2, 2), card)
        if label is not None:
            middle = (label.x + label.width / 2, label.y + label.height / 2)[1 - along]
            assert any(abs(point[1 - along] - middle) < 1e-6 for point in points)


def test_the_check_sees_an_overlap():
    good = arrange(compose(CASES["diamond"]))
    first, second, *rest = good.cards
    moved = Rectangle(first.x + 3, first.y + 3, second.width, second.height)
    bad = Arrangement(
        [first, moved, *rest], good.labels, good.curves, good.width, good.height, good.down
    )
    assert clashes(bad)


@pytest.mark.parametrize("name", CASES)
def test_inputs_come_before_what_is_computed_from_them(name):
    picture = compose(CASES[name])
    layer = layers(len(picture.cards), picture.wires)
    assert min(layer) >= 0
    assert all(layer[wire.source] < layer[wire.consumer] for wire in picture.wires)


def test_the_shape_of_the_flow_decides_the_direction():
    assert arrange(compose(flows.chain(20))).down
    assert not arrange(compose(flows.fan(55))).down


def test_crossings_against_counting_pairs():
    choice = random.Random(3)
    upper = [Vertex(0, place=place) for place in range(8)]
    lower = [Vertex(1, place=place) for place in range(7)]
    links = [Link(choice.choice(upper), choice.choice(lower), 0, 1.0) for _ in range(30)]
    for link in links:
        link.upper.below.append(link)
        link.lower.above.append(link)
    expected = sum(
        (one.upper.place - other.upper.place) * (one.lower.place - other.lower.place) < 0
        for one, other in combinations(links, 2)
    )
    assert crossings([upper, lower]) == expected


def test_a_tree_is_drawn_without_crossings():
    choice = random.Random(4)
    names = [f"v{index}" for index in range(40)]
    uses = {name: [] for name in names}
    for index, name in enumerate(names[:-1]):
        uses[choice.choice(names[index + 1 :])].append(name)
    rows = [(name, "op", 1.0, 1.0, [(source, 1.0) for source in uses[name]]) for name in names]
    picture = compose(flows.sketch(rows))
    labels: list[tuple[float, float] | None] = [None] * len(picture.wires)
    layer = layers(len(names), picture.wires)
    ranks = rank(picture.wires, layer, [(10.0, 10.0)] * len(names), labels)
    order(ranks)
    assert crossings(ranks.rows) == 0


def test_isotonic_is_the_nearest_ordered_sequence():
    wishes, weights = [3.0, 1.0, 2.0, 0.0], [1.0, 2.0, 1.0, 1.0]
    found = _isotonic(wishes, weights)
    assert found == sorted(found)
    grid = [step / 5 for step in range(16)]
    best = min(
        sum(w * (x - y) ** 2 for x, y, w in zip(xs, wishes, weights))
        for xs in product(grid, repeat=4)
        if list(xs) == sorted(xs)
    )
    assert sum(w * (x - y) ** 2 for x, y, w in zip(found, wishes, weights)) <= best + 1e-9


def test_two_thousand_boxes_take_seconds():
    flow = flows.random_flow(5, 2000)
    start = time.perf_counter()
    stage(compose(flow))
    assert time.perf_counter() - start < 5


def test_a_hundred_thousand_boxes_need_no_recursion():
    picture = compose(flows.chain(50_000))
    assert picture.left_out == "+ 99941 more boxes not drawn"
    assert len(stage(picture).marks) > 100
