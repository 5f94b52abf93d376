"""Top-k, a confusion matrix, pairs of labels, training and validation by one function."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, loader):
    model.eval()
    correct, top2, total, loss = 0, 0, 0, 0.0
    confusion = torch.zeros(4, 4)
    with torch.no_grad():
        for a, b in loader:
            out = model(a)
            answers = out.argmax(1)
            correct += (answers == b).sum().item()
            top2 += (out.topk(2, dim=1)[1] == b.view(-1, 1)).any(dim=1).sum().item()
            loss += F.cross_entropy(out, b).item() * len(b)
            total += b.size(0)
            said = (answers[:, None] == torch.arange(4)).float()
            confusion += said.t() @ (b[:, None] == torch.arange(4)).float()
    return loss / total, correct / total, top2 / total, confusion.diagonal().sum().item() / total


torch.manual_seed(0)
x = torch.randn(500, 10)
y = (x @ torch.randn(10, 4)).argmax(1)
train_loader = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=40, shuffle=True)
val_loader = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=25)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
running = seen = 0
for epoch in range(5):
    model.train()
    epoch_loss = 0.0
    for a, b in train_loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(a), b)
        loss.backward()
        opt.step()
        epoch_loss += loss.item()
        running += loss.item() * len(b)
        seen += len(b)
        alike = (b[:, None] == b[None, :]).float().mean().item()
    print(epoch, epoch_loss / len(train_loader), "so far", running / seen, "alike", alike)
    print("train", evaluate(model, train_loader), "val", evaluate(model, val_loader))
