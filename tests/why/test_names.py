"""What an explanation calls things: labels, variables, expressions, ops, in this order."""

from __future__ import annotations

import sys
import weakref
from types import SimpleNamespace
from typing import Any

import whygrad
from whygrad.why.names import Names, expression_at, shortened

one_of_the_module = whygrad.tensor(1.0, requires_grad=True)


def leaf(number: float = 2.0) -> Any:
    return whygrad.tensor(number, requires_grad=True)


def here() -> Names:
    return Names(sys._getframe(1))


def test_the_label_comes_first() -> None:
    variable = leaf()
    assert here().of_tensor(variable) == "variable"
    variable.name = "temperature"
    assert here().of_tensor(variable) == "temperature"


def test_locals_come_before_globals() -> None:
    assert here().of_tensor(one_of_the_module) == "one_of_the_module"
    mine = one_of_the_module
    assert here().of_tensor(mine) == "mine"


def test_a_comprehension_sees_the_function_around_it() -> None:
    first, second = leaf(), leaf()
    assert [Names().of(each) for each in (first, second) if each is not None] == ["each", "each"]
    pair = (first, second)
    assert [Names().of(pair[place]) for place in range(2)] == ["first", "second"]


def test_underscores_come_last() -> None:
    _ = leaf()
    x = _
    assert here().of_tensor(x) == "x"


def test_one_level_of_attributes_and_places() -> None:
    layer = SimpleNamespace(weight=leaf())
    weights = [leaf(), leaf()]
    by_name = {"bias": leaf()}
    names = here()
    assert names.of(layer.weight) == "layer.weight"
    assert names.of(weights[1]) == "weights[1]"
    assert names.of(by_name["bias"]) == "by_name['bias']"


def test_no_name_by_equality() -> None:
    x = leaf(3.0)
    twin = SimpleNamespace(inside=SimpleNamespace(too_deep=leaf(3.0)))
    assert here().of(twin.inside.too_deep) is None
    assert here().of(x) == "x"


def test_interior_values_by_variable_or_expression() -> None:
    x = leaf()
    y = (x * x + 1).sin()
    added, _ = y._node.next_functions[0]
    squared, _ = added.next_functions[0]
    assert here().of_node(added) == "x * x + 1"
    assert here().of_node(squared) == "x * x"
    square = x * x
    assert here().of_node(square._node) == "square"
    assert here().held(square._node) is square
    assert here().held(squared) is None


def test_outputs_of_one_node_are_told_apart() -> None:
    rows = whygrad.ones(4, requires_grad=True)
    first, second = rows.chunk(2)
    assert here().of_node(first._node, 0) == "first"
    assert here().of_node(second._node, 1) == "second"


def test_a_leaf_that_is_gone_is_named_by_what_made_it() -> None:
    y = leaf() * 2
    assert here().of_node(y._node.parents[0]) == "whygrad.tensor(number…grad=True)"


def test_an_expression_over_several_lines() -> None:
    x = leaf()
    y = (
        x.sin()  # a comment
        + x
    ).exp()
    names = here()
    assert names.of_node(y._node.parents[0]) == "x.sin() + x"


def test_without_source_the_op_names_it() -> None:
    scope: dict[str, Any] = {"x": leaf()}
    exec("y = (x * x) + 1", scope)
    product = scope["y"]._node.parents[0]
    assert Names(sys._getframe()).of_node(product) == "mul"
    assert expression_at(None) == ""


def test_asking_keeps_nothing_alive() -> None:
    x = leaf()
    y = x * 2
    assert here().of_tensor(y) == "y"
    node = weakref.ref(y._node)
    del y
    assert node() is None


def test_asking_leaves_the_users_locals_alone() -> None:
    x = leaf()
    mine = locals()
    assert here().of_tensor(x) == "x"
    assert mine["x"] is x


def test_shortened() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"


def test_long_expressions_keep_both_ends() -> None:
    some_long_name = leaf()
    y = (some_long_name * some_long_name + some_long_name).exp().log().sin()
    names = here()
    assert names.of_node(y._node.parents[0]) == "(some_long_name * som…xp().log()"
    assert len(names.of_node(y._node.parents[0])) == 32


def test_parameters_and_buffers_of_modules_by_their_path() -> None:
    class Inner(whygrad.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = whygrad.nn.Parameter(whygrad.ones(2))
            self.register_buffer("mean", whygrad.zeros(2))

    class Outer(whygrad.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

    model = Outer()
    names = Names()
    assert names.of(model.inner.weight) == "model.inner.weight"
    assert names.of(model.inner.mean) == "model.inner.mean"


def test_a_list_that_grows_while_it_is_read() -> None:
    class Growing:
        """Asking for its class, as isinstance does, makes one more of them."""

        @property
        def __class__(self) -> type:  # type: ignore[override]
            assert len(growing) < 100, "the list is read without end"
            growing.append(Growing())
            return object

    growing: list[Any] = []
    growing.append(Growing())
    mine = leaf()
    assert here().of_tensor(mine) == "mine"
    assert len(growing) < 100


def test_what_only_looks_like_a_module() -> None:
    odd = SimpleNamespace(_modules=[1, 2], _parameters=None)
    mine = leaf()
    odd.inner = mine
    del mine
    assert here().of_tensor(odd.inner) == "odd.inner"
