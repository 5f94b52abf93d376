import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(10)
centers = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.0]])
labels = torch.arange(300) % 3
points = centers[labels] + 0.5 * torch.randn(300, 2)

model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.005)

for step in range(100):
    idx = torch.randint(0, 300, (32,))
    scores = model(points[idx])
    predicted = scores.argmax(dim=1).float()  # expect: detached-graph
    loss = F.l1_loss(predicted, labels[idx].float())
    loss.requires_grad_(True)  # expect: detached-graph
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("step", step, "loss", round(loss.item(), 4))

with torch.no_grad():
    accuracy = (model(points).argmax(dim=1) == labels).float().mean()
print(f"accuracy {accuracy.item():.3f}")
