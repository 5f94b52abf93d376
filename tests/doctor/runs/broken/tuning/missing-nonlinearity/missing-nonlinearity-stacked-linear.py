import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, 2)

    def forward(self, x):
        x = self.fc1(x)  # expect: missing-nonlinearity
        x = self.fc2(x)  # expect: missing-nonlinearity
        return self.fc3(x)  # expect: missing-nonlinearity


angle = torch.rand(400) * 6.2832
label = torch.arange(400) % 2
radius = 1.0 + label.float() + 0.1 * torch.randn(400)
points = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=1)

model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(150):
    logits = model(points)
    loss = F.cross_entropy(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 30 == 0:
        accuracy = (logits.argmax(1) == label).float().mean().item()
        print(f"epoch {epoch:3d} loss {loss.item():.4f} accuracy {accuracy:.2f}")
print(f"final loss {loss.item():.4f}")
