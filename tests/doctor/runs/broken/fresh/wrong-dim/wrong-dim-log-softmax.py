import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 40)
        self.fc2 = nn.Linear(40, 5)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return F.log_softmax(x, dim=0)  # expect: wrong-dim


labels = torch.randint(0, 5, (320,))
data = torch.randn(5, 16)[labels] + 0.4 * torch.randn(320, 16)
train_loader = DataLoader(TensorDataset(data, labels), batch_size=32, shuffle=True)

model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

for epoch in range(12):
    correct = 0
    for x, y in train_loader:
        optimizer.zero_grad()
        output = model(x)
        loss = F.nll_loss(output, y)  # expect: wrong-dim
        loss.backward()
        optimizer.step()
        correct += (output.argmax(dim=1) == y).sum().item()
    print(f"Train Epoch: {epoch} Loss: {loss.item():.4f} Acc: {correct / 320:.3f}")
