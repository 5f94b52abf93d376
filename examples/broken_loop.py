"""A training loop with four mistakes; ``whygrad doctor examples/broken_loop.py`` finds them.

It is a PyTorch program: with ``torch`` in the two import lines it runs there, and breaks there too.
"""

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
