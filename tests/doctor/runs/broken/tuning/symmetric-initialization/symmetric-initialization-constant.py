import torch
import torch.nn as nn

torch.manual_seed(1)


class TwoLayer(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)
        self.fc2 = nn.Linear(hidden, 1)
        for p in self.parameters():
            nn.init.constant_(p, 0.5)  # expect: symmetric-initialization

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


x = torch.rand(256, 2) * 2 - 1
y = ((x[:, 0] * x[:, 1]) > 0).float().unsqueeze(1)

model = TwoLayer()
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
for epoch in range(250):
    optimizer.zero_grad()
    logits = model(x)
    loss = loss_fn(logits, y)
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        acc = ((logits > 0).float() == y).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.3f}")
print(f"final {loss.item():.4f}")
