"""L = (a·b + c)·(a − c): read the tape by hand, then watch the walk back.

``a`` and ``c`` reach L on two paths each, so their gradients are sums of two contributions.
"""

import whygrad as wg
from whygrad.autograd.trace import trace_backward

a = wg.tensor(2.0, requires_grad=True)
b = wg.tensor(3.0, requires_grad=True)
c = wg.tensor(4.0, requires_grad=True)
e = a * b + c
f = a - c
L = e * f

leaves = {id(a): "a", id(b): "b", id(c): "c"}


def name_of(node):
    is_leaf = node.name() == "AccumulateGrad"
    return leaves[id(node.variable)] if is_leaf else node.where.expression


print(f"L = {L.item():g}\n")
print("The tape, from L downwards:")
waiting, seen = [L.grad_fn], set()
while waiting:
    node = waiting.pop(0)
    if node in seen or node.name() == "AccumulateGrad":
        continue
    seen.add(node)
    parents = [parent for parent, _ in node.next_functions if parent is not None]
    waiting += parents
    saved = ", ".join(f"{name} = {value:g}" for name, value in node.saved.items()) or "nothing"
    inputs = ", ".join(name_of(parent) for parent in parents)
    print(f"  line {node.where.line:2}  {node.name():12}  from {inputs:16}  saved: {saved}")

print("\nThe walk back:")
for step in trace_backward(L):
    sends = ", ".join(f"{name_of(each.target)} += {each.gradient:g}" for each in step.contributions)
    print(f"  {step.node.name():12}  receives {step.incoming:3g}  sends {sends}")

L.backward()
print(f"\ndL/da = {a.grad.item():g}, dL/db = {b.grad.item():g}, dL/dc = {c.grad.item():g}")
