import torch
import torch.nn as nn

torch.manual_seed(80)


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.norm = nn.InstanceNorm2d(16)  # expect: constant-output
        self.fc = nn.Linear(16, 2)

    def forward(self, x):
        x = self.conv(torch.relu(x))
        x = self.norm(x)  # expect: constant-output
        x = x.mean(dim=(2, 3))  # expect: constant-output
        return self.fc(x)


x = torch.randn(128, 1, 8, 8)
y = torch.arange(128) % 2
x[y == 1, :, 2:6, 2:6] += 2.0

model = SmallCNN()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(60):
    optimizer.zero_grad()
    logits = model(x)
    loss = criterion(logits, y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        accuracy = (logits.argmax(1) == y).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {accuracy:.3f}")
