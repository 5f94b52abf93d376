import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        m.bias.data.fill_(-4.0)  # expect: dead-relu


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, 3)
        self.relu = nn.ReLU()  # expect: dead-relu

    def forward(self, x):
        x = self.relu(self.fc1(x))  # expect: dead-relu
        x = self.relu(self.fc2(x))  # expect: dead-relu
        return self.fc3(x)


X = torch.randn(300, 8)
y = (X @ torch.randn(8, 3)).argmax(dim=1)
loader = DataLoader(TensorDataset(X, y), batch_size=30, shuffle=True)

model = Classifier()
model.apply(init_weights)  # expect: dead-relu
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(15):
    correct = 0
    for xb, yb in loader:
        optimizer.zero_grad()
        out = model(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
        correct += (out.argmax(1) == yb).sum().item()
    print(f"Epoch {epoch}: loss {loss.item():.4f}, accuracy {correct / len(X):.2%}")
