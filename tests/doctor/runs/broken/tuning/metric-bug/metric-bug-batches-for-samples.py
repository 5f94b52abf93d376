import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def test(model, loader):
    model.eval()
    hits = 0
    with torch.no_grad():
        for inputs, labels in loader:
            answers = model(inputs).argmax(dim=1)
            hits += answers.eq(labels).sum().item()
    return hits / len(loader)  # expect: metric-bug


torch.manual_seed(3)
x = torch.randn(500, 10)
y = (x @ torch.randn(10, 4)).argmax(1)
train_loader = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=40, shuffle=True)
test_loader = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=25)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(5):
    model.train()
    for inputs, labels in train_loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        opt.step()
    print(epoch, loss.item(), test(model, test_loader))
