import torch
import torch.nn as nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        self.classify = nn.Linear(24, 3)
        self.regress = nn.Linear(24, 1)

    def forward(self, x):
        h = self.shared(x)
        return self.classify(h), self.regress(h).squeeze(-1)


torch.manual_seed(6)
x = torch.randn(400, 8)
kind = x[:, :3].argmax(dim=1)
amount = 3 * torch.tanh(x[:, 3] + x[:, 4])

model = MultiTask()
ce, mse = nn.CrossEntropyLoss(), nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
history = []
for step in range(120):
    logits, value = model(x)
    loss_c, loss_r = ce(logits, kind), mse(value, amount)
    loss = 1.0 * loss_c + 0.2 * loss_r
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    if step % 20 == 0:
        print(f"{step} class {loss_c.item():.3f} value {loss_r.item():.3f}")
print("start", history[0], "end", history[-1])
