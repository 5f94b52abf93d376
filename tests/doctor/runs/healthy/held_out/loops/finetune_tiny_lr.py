import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Linear(10, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU()
        )
        self.head = nn.Linear(24, classes)

    def forward(self, x):
        return self.head(self.features(x))


x = torch.randn(400, 10)
teacher = torch.randn(10, 6)
source = (x @ teacher).argmax(1)
model = Classifier(6)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for _ in range(80):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), source)
    loss.backward()
    optimizer.step()
print("source task:", loss.item())

# new task: replace the head, keep the statistics, move the features only a little
labels = source % 2
model.head = nn.Linear(24, 2)
model.features[1].eval()
optimizer = torch.optim.AdamW(
    [
        {"params": model.features.parameters(), "lr": 1e-5},
        {"params": model.head.parameters(), "lr": 1e-2},
    ],
    weight_decay=0.01,
)
for step in range(80):
    batch = torch.randint(0, 400, (50,))
    loss = F.cross_entropy(model(x[batch]), labels[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("step", step, "loss", round(loss.item(), 4))
accuracy = (model(x).argmax(1) == labels).float().mean().item()
print("accuracy", round(accuracy, 3))
