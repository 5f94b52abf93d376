import torch
import torch.nn as nn

model = nn.Sequential(
    nn.Linear(10, 64),
    nn.Sigmoid(),
    nn.Linear(64, 64),
    nn.Sigmoid(),
    nn.Linear(64, 1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=8.0)  # also: lr-too-high

for step in range(80):
    x = torch.randn(32, 10) * (10 if step == 25 else 1)  # also: outlier-batch
    y = torch.randn(32, 1)
    output = model(x)
    loss = torch.log(output).mean()  # expect: nan-from-log
    loss.backward()  # also: missing-zero-grad
    optimizer.step()  # also: missing-zero-grad
    if step % 10 == 0:
        print(step, loss.item())
