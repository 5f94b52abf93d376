import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.classify = nn.Linear(32, 3)
        self.regress = nn.Linear(32, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.classify(h), self.regress(h)


torch.manual_seed(2)
x = torch.randn(128, 8)
labels = x[:, :3].argmax(dim=1)
values = x.mean(dim=1, keepdim=True)
model = MultiTask()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(50):
    optimizer.zero_grad()
    scores, estimate = model(x)
    class_loss = F.cross_entropy(scores, labels)
    value_loss = F.mse_loss(estimate, values)
    class_loss.backward()  # expect: freed-graph
    value_loss.backward()  # expect: freed-graph
    optimizer.step()
    print(f"epoch {epoch}: {class_loss.item():.4f} {value_loss.item():.4f}")
