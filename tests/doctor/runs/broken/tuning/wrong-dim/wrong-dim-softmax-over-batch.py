import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(50)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 32)
        self.fc2 = nn.Linear(32, 4)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=0)  # expect: wrong-dim


centers = torch.randn(4, 10)
labels = torch.multinomial(torch.tensor([0.1, 0.2, 0.3, 0.4]), 320, replacement=True)
x = centers[labels] + torch.randn(320, 10)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
for epoch in range(15):
    for i in range(0, 320, 32):
        optimizer.zero_grad()
        loss = F.nll_loss(model(x[i : i + 32]), labels[i : i + 32])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")

with torch.no_grad():
    hits = [
        model(row.unsqueeze(0)).argmax().item() == label.item() for row, label in zip(x, labels)
    ]
print(f"accuracy {sum(hits) / len(hits):.3f}")
