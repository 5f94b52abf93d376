import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)
features = torch.randn(330, 7)
targets = features @ torch.randn(7, 2) + 0.05 * torch.randn(330, 2)
loader = DataLoader(TensorDataset(features, targets), batch_size=10, shuffle=True)
virtual_batch = 6

net = nn.Sequential(nn.Linear(7, 20), nn.ReLU(), nn.Linear(20, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.8)


def run_epoch():
    net.train()
    total = 0.0
    for number, (x, y) in enumerate(loader, start=1):
        loss = nn.functional.mse_loss(net(x), y)
        (loss / virtual_batch).backward()
        total += loss.item()
        if number % virtual_batch == 0 or number == len(loader):
            nn.utils.clip_grad_norm_(net.parameters(), 10.0)
            opt.step()
            opt.zero_grad()
    return total / len(loader)


for epoch in range(12):
    print(f"epoch {epoch}: {run_epoch():.4f}")
