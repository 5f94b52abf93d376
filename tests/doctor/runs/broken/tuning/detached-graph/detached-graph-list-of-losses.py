import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.linspace(-2, 2, 64).unsqueeze(1)
y = torch.sin(2 * x)

net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)

for epoch in range(30):
    for chunk in range(0, 64, 16):
        opt.zero_grad()
        errors = []
        for i in range(chunk, chunk + 16):
            diff = net(x[i]) - y[i]
            errors.append((diff * diff).sum().item())  # expect: detached-graph
        loss = torch.tensor(errors, requires_grad=True).mean()  # expect: detached-graph
        loss.backward()
        opt.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1} loss {loss.item():.5f}")
