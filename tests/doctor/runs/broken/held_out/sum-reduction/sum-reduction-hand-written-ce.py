import torch
import torch.nn as nn

torch.manual_seed(68)
n_classes = 5
centers = torch.randn(n_classes, 12)
labels = torch.randint(0, n_classes, (600,))
x = centers[labels] + torch.randn(600, 12)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(12, 48)
        self.fc2 = nn.Linear(48, n_classes)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def cross_entropy(logits, target):
    log_probs = logits.log_softmax(dim=1)
    picked = log_probs[torch.arange(len(target)), target]
    return -picked.sum()  # expect: sum-reduction


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(10):
    order = torch.randperm(600)
    for i in range(0, 600, 100):
        idx = order[i : i + 100]
        optimizer.zero_grad()
        loss = cross_entropy(model(x[idx]), labels[idx])  # expect: sum-reduction
        loss.backward()
        optimizer.step()
    accuracy = (model(x).argmax(1) == labels).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.3f} accuracy {accuracy:.3f}")
