import torch
from torch import nn

torch.manual_seed(2)
x = torch.randn(600, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
net = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.2)
loss_fn = nn.CrossEntropyLoss()
correct = 0  # expect: metric-bug
for epoch in range(4):
    for i in range(0, 600, 60):
        out = net(x[i : i + 60])
        loss = loss_fn(out, y[i : i + 60])
        opt.zero_grad()
        loss.backward()
        opt.step()
        correct += (out.argmax(1) == y[i : i + 60]).sum().item()
    print(f"epoch {epoch}: {loss.item():.3f}, {100 * correct / len(x):.1f} % right")
