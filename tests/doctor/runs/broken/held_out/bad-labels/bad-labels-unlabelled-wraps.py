import torch
import torch.nn as nn

torch.manual_seed(28)

centers = 2 * torch.randn(5, 6)
truth = torch.randint(0, 5, (400,))
x = centers[truth] + 0.5 * torch.randn(400, 6)
labels = truth.clone()
labels[torch.rand(400) < 0.6] = -1  # expect: bad-labels


def cross_entropy(logits, target):
    log_probs = torch.log_softmax(logits, dim=1)
    return -log_probs[torch.arange(len(target)), target].mean()  # expect: bad-labels


model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(100):
    loss = cross_entropy(model(x), labels)  # expect: bad-labels
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")
print("accuracy", (model(x).argmax(1) == truth).float().mean().item())
