"""Fit weights to a mostly empty design matrix, and find out which of its entries are wrong.

The product of a sparse and a dense matrix is dense; the gradient of the sparse factor is sparse
and has numbers only where the factor has them.
"""

import whygrad as wg

wg.manual_seed(0)
rows, columns = 200, 50
indices = wg.stack([wg.randint(0, rows, (600,)), wg.randint(0, columns, (600,))])
design = wg.sparse_coo_tensor(indices, wg.randn(600), (rows, columns)).coalesce()
truth = wg.randn(columns, 1)
measured = design @ truth

print(f"design: {tuple(design.shape)}, {design._nnz()} of {rows * columns} entries stored")
weights = wg.zeros(columns, 1, requires_grad=True)
for step in range(301):
    loss = ((design @ weights - measured) ** 2).mean()
    loss.backward()
    with wg.no_grad():
        weights -= 4.0 * weights.grad
    weights.grad = None
    if step % 100 == 0:
        print(f"step {step:3}: loss {loss.item():.2e}")

values = design.values().clone()
values[123] += 2.0  # one entry was typed in wrong
suspect = wg.sparse_coo_tensor(design.indices(), values, (rows, columns)).requires_grad_()
((suspect @ truth - measured) ** 2).mean().backward()
blame = suspect.grad.coalesce()
print(f"gradient of the design: {blame.layout}, {blame._nnz()} numbers")
row = int(blame.indices()[0][blame.values().abs().argmax()])
print(f"the blame falls on row {row}; the wrong entry is in row {int(design.indices()[0][123])}")
