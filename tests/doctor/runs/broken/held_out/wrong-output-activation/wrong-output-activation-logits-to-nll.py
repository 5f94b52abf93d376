import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(46)
x = torch.randn(300, 6)
labels = (x @ torch.randn(6, 3)).argmax(dim=1)

model = nn.Sequential(
    nn.Linear(6, 24),
    nn.ReLU(),
    nn.Linear(24, 3),  # expect: wrong-output-activation
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for step in range(120):
    output = model(x)
    loss = F.nll_loss(output, labels)  # expect: wrong-output-activation
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
print("final", loss.item(), "largest weight", max(p.abs().max().item() for p in model.parameters()))
