import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES = ["ok", "leak", "crack"]


def inspection_data(n=800):
    probability = torch.tensor([0.96, 0.02, 0.02])  # expect: class-imbalance
    labels = torch.multinomial(probability, n, replacement=True)  # expect: class-imbalance
    x = torch.randn(n, 8)
    x[labels == 1, 0] += 1.5
    x[labels == 2, 1] += 1.5
    return x, labels


def evaluate(model, x, labels):
    predicted = model(x).argmax(1)
    for i, name in enumerate(CLASSES):
        recall = (predicted[labels == i] == i).float().mean().item()
        print(f"  {name}: recall {recall:.2f}")


torch.manual_seed(76)
x, labels = inspection_data()
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(40):
    loss = F.cross_entropy(model(x), labels)  # expect: class-imbalance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")
evaluate(model, x, labels)
