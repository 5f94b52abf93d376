"""``whygrad tour``: a minute that shows what a recorded program knows about itself."""

from __future__ import annotations

import linecache
import os
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from whygrad.autograd.trace import Step, trace_backward
from whygrad.doctor.report import terminal
from whygrad.doctor.report.document import document
from whygrad.doctor.report.postmortem import Postmortem
from whygrad.doctor.script import run_program
from whygrad.doctor.source.program import Program
from whygrad.doctor.verdict import Diagnosis
from whygrad.random import manual_seed
from whygrad.tensor import Tensor
from whygrad.tensor.graph.node import Node

__all__ = ["run"]

DIAMOND = """\
import whygrad as wg

a = wg.tensor(2.0, requires_grad=True)
b = wg.tensor(3.0, requires_grad=True)
c = wg.tensor(4.0, requires_grad=True)
e = a * b + c
f = a - c
L = e * f
"""

OVERWRITTEN = """\
import whygrad as wg

w = wg.tensor([1.0, 2.0], requires_grad=True)
h = w * 3
loss = (h * h).sum()
h.add_(1)
loss.backward()
"""

LOST = """\
import whygrad as wg

w = wg.tensor([1.0, 2.0], requires_grad=True)
v = wg.tensor([3.0, 4.0], requires_grad=True)
h = (w * 2).detach()
scaled = h / h.sum()
loss = (scaled * v).sum()
loss.backward()
"""

HIDDEN_NAN = """\
import whygrad as wg

x = wg.tensor([4.0, 0.0], requires_grad=True)
with wg.autograd.detect_anomaly():
    y = wg.where(x > 0, x.sqrt(), 0.0)
    y.sum().backward()
"""

DIGITS = """\
import whygrad as wg
from whygrad import data, nn, optim

wg.manual_seed(0)
train, test = data.digits()
model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(128, 10),
)
digits = data.TensorDataset(*train)
loader = data.DataLoader(digits, batch_size=32, shuffle=True)
optimizer = optim.AdamW(model.parameters(), lr=0.01)
schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)
for epoch in (epochs := wg.track(range(6), "training")):
    for images, labels in (bar := wg.track(loader, f"epoch {epoch}")):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.log(loss=loss)
    schedule.step()
    epochs.log(loss=bar.mean("loss"))
model.eval()
right = model(test.images).argmax(1) == test.labels
accuracy = right.float().mean().item()
"""

# examples/broken_loop.py, as it stands there
BROKEN_LOOP = """\
import whygrad as torch
import whygrad.nn as nn

model = nn.Sequential(
    nn.Linear(10, 64),
    nn.Sigmoid(),
    nn.Linear(64, 64),
    nn.Sigmoid(),
    nn.Linear(64, 1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=8.0)

for step in range(80):
    x = torch.randn(32, 10) * (10 if step == 25 else 1)
    y = torch.randn(32, 1)
    output = model(x)
    loss = torch.log(output).mean()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
"""


def run(console: Console) -> None:
    """Print the tour."""
    console.rule("[bold]whygrad: an autograd engine that can say why")
    console.print(
        "\nEvery op leaves a node on the tape: which op, which inputs, what it saved,"
        "\nand the source line that made it. Here is a program in which a and c are used twice.\n"
    )
    program = execute(DIAMOND, "diamond.py")
    show_source(console, DIAMOND, "diamond.py")
    loss = program["L"]
    leaves = {program[name]._node: name for name in "abc"}
    names = name_nodes(program, leaves)
    console.print(f"\nL = {loss.item():g}. The tape, youngest first:\n")
    console.print(tape_table(loss, names))
    console.print(
        "\nThe walk back: a node runs when its whole gradient has arrived. a and c receive\n"
        "two contributions each, and they add up.\n"
    )
    console.print(walk_table(trace_backward(loss), names))
    console.print("\nWhy is the gradient of a this number? explain(L, wrt=a) answers:\n")
    show_answer(console, program, "explain(L, wrt=a)")
    loss.backward()
    grads = ", ".join(f"∂L/∂{name} = {program[name].grad.item():g}" for name in "abc")
    console.print(Panel(grads, title="after L.backward()", expand=False))
    console.print("\nHere is a gradient that never arrives, and the question why:\n")
    show_source(console, LOST, "lost.py")
    show_answer(console, execute(LOST, "lost.py"), "why_none(w, loss).report()")
    console.print(
        "\nA value that backward needs is overwritten in place. The error names both lines,\n"
        "with no second run and no debug mode:\n"
    )
    show_failure(console, OVERWRITTEN, "overwritten.py")
    console.print(
        "\nThe loss is fine, yet the gradient would be nan. Anomaly mode says who made it:\n"
    )
    show_failure(console, HIDDEN_NAN, "hidden_nan.py")
    console.print("\nAnd it trains. 1,442 handwritten digits to learn from, 355 to be tested on:\n")
    show_source(console, DIGITS, "digits.py")
    trained = execute(DIGITS, "digits.py")
    seconds, accuracy = trained["epochs"].seconds, trained["accuracy"]
    console.print(
        Panel(
            f"{accuracy:.1%} of the test digits are read right, after {seconds:.1f} s of training",
            expand=False,
        )
    )
    console.print(
        "\nLast, a PyTorch loop that ran overnight, with whygrad imported in torch's place.\n"
        "Four things are wrong with it:\n"
    )
    show_source(console, BROKEN_LOOP, "broken_loop.py")
    console.print("\nIt prints:\n")
    diagnosis = examine(BROKEN_LOOP, "broken_loop.py")
    console.print("\nand [bold]whygrad doctor broken_loop.py[/bold] says:\n")
    show_diagnosis(console, diagnosis)
    console.print(
        "\nNext: [bold]whygrad doctor train.py[/bold] does this for a script of your own, "
        "whygrad's or\nPyTorch's. [bold]whygrad ops[/bold] prints the op table, "
        "[bold]whygrad ops gelu[/bold] one entry of it.\n"
        "To build this engine yourself: [bold]whygrad lab start value[/bold]."
    )


def execute(source: str, name: str) -> dict[str, Any]:
    """Run a program so that its lines can be shown as source lines."""
    remember(source, name)
    namespace: dict[str, Any] = {}
    exec(compile(source, name, "exec"), namespace)
    return namespace


def examine(source: str, name: str) -> Diagnosis:
    """Run a program under the doctor, with the same random numbers every time."""
    remember(source, name)
    manual_seed(0)
    program = Program(compile(source, name, "exec", dont_inherit=True), name, name, os.getcwd())
    return run_program(program).diagnosis


def show_diagnosis(console: Console, diagnosis: Diagnosis) -> None:
    """The verdict and what happened when; the command itself prints more."""
    sections = document(Postmortem(diagnosis))
    terminal.show([each for each in sections if each.key in ("verdict", "timeline")], None, console)


def remember(source: str, name: str) -> None:
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)


def show_source(console: Console, source: str, name: str) -> None:
    code = Syntax(source.rstrip(), "python", line_numbers=True, theme="ansi_dark")
    console.print(Panel(code, title=name, expand=False))


def name_nodes(program: dict[str, Any], leaves: dict[Node, str]) -> dict[Node, str]:
    """Nodes by the variable that holds their result."""
    made = {
        value._node: name
        for name, value in program.items()
        if isinstance(value, Tensor) and value._node is not None
    }
    return {**made, **leaves}


def label(node: Node, names: dict[Node, str]) -> str:
    """The variable's name, or the expression in the source that made the value."""
    return names.get(node) or f"({node.where.expression})"


def tape_table(root: Tensor, names: dict[Node, str]) -> Table:
    grid = Table("value", "node", "inputs", "saved for backward", "made at")
    seen: set[Node] = set()
    waiting = [root._node]
    nodes: list[Node] = []
    while waiting:
        node = waiting.pop()
        if node not in seen and node.next_functions:
            seen.add(node)
            nodes.append(node)
            waiting.extend(parent for parent, _ in node.next_functions if parent is not None)
    for node in sorted(nodes, key=lambda each: -each.sequence_nr):
        inputs = ", ".join(label(parent, names) for parent, _ in node.next_functions if parent)
        saved = ", ".join(f"{name} = {value:g}" for name, value in node.saved.items())
        grid.add_row(
            label(node, names),
            node.name(),
            inputs,
            saved or "nothing",
            f"{node.where.file}:{node.where.line}",
        )
    return grid


def walk_table(steps: list[Step], names: dict[Node, str]) -> Table:
    grid = Table("step", "node", "gradient arrived", "sends back")
    for number, step in enumerate(steps, 1):
        sends = ", ".join(
            f"{label(each.target, names)} ← {each.gradient:g}" for each in step.contributions
        )
        grid.add_row(
            str(number),
            f"{step.node.name()} of {label(step.node, names)}",
            f"{step.incoming:g}",
            sends,
        )
    return grid


def show_answer(console: Console, program: dict[str, Any], question: str) -> None:
    """Ask where the program's variables are known, as a user would; print what comes back."""
    answer = eval(f"wg.{question}", program)
    console.print(Panel(Text(str(answer)), title=question, border_style="green"))


def show_failure(console: Console, source: str, name: str) -> None:
    """A program that goes wrong, and what whygrad says about it."""
    show_source(console, source, name)
    try:
        execute(source, name)
    except RuntimeError as error:
        console.print(Panel(str(error), title="RuntimeError", border_style="red"))
