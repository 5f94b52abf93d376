"""Named questions to the text of a program, and one place that reads it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import whygrad
from whygrad.doctor.source.data import loaders, shuffles, shuffles_apart
from whygrad.doctor.source.lines import (
    code_at,
    compares,
    defined,
    ignored_rules,
    loss_assigned,
    names_at,
    place,
    rate_set,
    shrinks_gradients,
    switched_off,
    turned_off,
    weights_restored,
)
from whygrad.doctor.source.loops import is_loop, is_repeated_with
from whygrad.source import Where

ROOT = Path(whygrad.__file__).parent


@pytest.fixture
def program(tmp_path: Path) -> Any:
    """Lines of a program → a function from a line to its place, and from "" to the file."""

    def written(*lines: str) -> Any:
        path = tmp_path / f"program{len(list(tmp_path.iterdir()))}.py"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return lambda line: place(str(path), line) if line else str(path)

    return written


def line(where: Where | None) -> int | None:
    return None if where is None else where.line


def test_only_the_reader_parses() -> None:
    allowed = {ROOT / "why" / "syntax.py", ROOT / "doctor" / "source" / "reader.py"}
    for folder in ("doctor", "why", "torch"):
        for path in set((ROOT / folder).rglob("*.py")) - allowed:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    assert "linecache" not in [each.name for each in node.names], path
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    assert (node.value.id, node.attr) != ("ast", "parse"), path


def test_loaders_over_several_lines(program: Any) -> None:
    at = program(
        "train = DataLoader(",
        "    data,",
        "    shuffle=True,  # not shuffle=False",
        ")",
        "test = data.DataLoader(held, sampler=RandomSampler(held))",
        "text = 'DataLoader(shuffle=True)'",
    )
    found = [(each.where.line, each.shuffles, each.samples) for each in loaders(at(0))]
    assert found == [(1, True, False), (5, False, True)]


def test_shuffles(program: Any) -> None:
    at = program(
        "random.shuffle(x)",
        "y = y[torch.randperm(len(y))]",
        "z = rng.permutation(z)",
        "w = rng.permutation(v)",
    )
    assert [(name, each.line) for name, each in shuffles(at(0))] == [("x", 1), ("y", 2), ("z", 3)]
    (one, first), (other, second) = shuffles_apart(at(0)) or pytest.fail("no pair")
    assert (one, first.line, other, second.line) == ("x", 1, "y", 2)
    assert shuffles_apart(program("seed(0)", "shuffle(x)", "seed(0)", "shuffle(y)")(0)) is None


def test_what_a_line_says(program: Any) -> None:
    at = program(
        "loss = -(advantages * dist.log_prob(actions)).mean()  # of a '#'",
        "name = 'a  # b'",
        "right = (scores.argmax(1) == labels).sum()  # whygrad: ignore[one, two]",
        "for x in data:  # whygrad: ignore",
        "    f(x)",
    )
    assert names_at(at(1)) == ("loss", "advantages", "dist", "log_prob", "actions", "mean")
    assert code_at(at(1)) == "loss = -(advantages * dist.log_prob(actions)).mean()"
    assert code_at(at(2)) == "name = 'a  # b'"
    assert compares(at(3))
    assert not compares(at(1))
    assert [ignored_rules(at(each)) for each in (2, 3, 4)] == [None, ["one", "two"], []]
    assert is_loop(at(4))
    assert not is_loop(at(5))


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("right = (answer == labels).float().mean()", True),
        ("right = answer.eq(labels).float().mean()", True),
        ("zeros = (weight == 0).float().mean()", False),
    ],
)
def test_what_is_equal_to_a_number_is_no_right_answer(program: Any, text: str, asks: bool) -> None:
    assert compares(program(text)(1)) is asks


def test_where_the_loss_gets_its_value(program: Any) -> None:
    at = program("loss = a", "if loss == 1: pass", "total = 2", "loss.backward()")
    assert line(loss_assigned(at(4))) == 1
    assert loss_assigned(program("loss = a", "loss += b", "loss.backward()")(3)) is None
    assert loss_assigned(program("loss = a", "loss.mean().backward()")(2)) is None


@pytest.mark.parametrize(
    ("text", "shrinks"),
    [
        ("p.grad.clamp_(-1, 1)", True),
        ("p.grad.data.mul_(0.1)", True),
        ("p.grad *= 0.1", True),
        ("p.grad = torch.clamp(p.grad, -1, 1)", True),
        ("p.grad += noise", False),
        ("p.grad = None", False),
        ("h.clamp_(0)", False),
    ],
)
def test_gradients_made_smaller_by_hand(program: Any, text: str, shrinks: bool) -> None:
    at = program("for p in parameters:", f"    {text}", "optimizer.step()")
    assert line(shrinks_gradients(at(3))) == (2 if shrinks else None)


def test_a_rate_set_by_hand_in_the_same_function(program: Any) -> None:
    at = program(
        "def other(group):",
        "    group['lr'] = 1",
        "print(group['lr'] == 2)",
        "for group in groups:",
        "    group['lr'] *= 0.5",
        "step()",
    )
    assert line(rate_set(at(6))) == 5


def test_what_is_switched_and_restored(program: Any) -> None:
    at = program(
        "with torch.no_grad():",
        "    a()",
        "torch.set_grad_enabled(False)",
        "while a():",
        "    a()",
        "    b()",
        "model.load_state_dict(best)",
    )
    assert line(switched_off(at(2))) == 1
    assert switched_off(at(5)) is None
    assert line(turned_off(at(0))) == 3
    assert weights_restored(at(5))
    assert not weights_restored(at(7))
    assert is_repeated_with(at(5), at(6))
    assert not is_repeated_with(at(2), at(6))


def test_a_definition_behind_its_decorators() -> None:
    @pytest.mark.parametrize("x", [1])
    @pytest.mark.skip
    def decorated() -> None: ...

    found = defined(decorated)
    assert found is not None
    assert found.text.startswith("def decorated")
