"""One op, four kinds of arguments: ask the dispatcher what it does with each, and why."""

import whygrad as wg
from whygrad.dispatch import explain

floats = wg.tensor([1.0, 2.0])
integers = wg.tensor([1, 2])
weights = wg.tensor([0.5, -0.5], requires_grad=True)
sparse = wg.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()

print("--- integers meet floats\n")
print(explain(wg.add, integers, floats))

print("\n--- an argument requires grad\n")
print(explain(wg.mul, weights, floats))

print("\n--- the same, under no_grad\n")
with wg.no_grad():
    print(explain(wg.mul, weights, floats))

print("\n--- a sparse factor\n")
print(explain(wg.matmul, sparse, wg.ones(2, 1)))

print("\n--- shapes without data\n")
print(explain(wg.matmul, wg.empty(2000, 3000, device="meta"), wg.empty(3000, 10, device="meta")))
