import torch
import torch.nn as nn
import torch.nn.functional as F


class DropNet(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.a = nn.Linear(1, 64)
        self.b = nn.Linear(64, 64)
        self.c = nn.Linear(64, 1)
        self.p = p

    def forward(self, x):
        x = F.dropout(F.elu(self.a(x)), p=self.p)
        x = F.dropout(F.elu(self.b(x)), p=self.p)
        return self.c(x)


torch.manual_seed(77)
x = torch.rand(200, 1) * 4 - 2
y = 0.5 * x**3 - x + 0.1 * torch.randn(200, 1)
model = DropNet()
opt = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(x, y), batch_size=50, shuffle=True, drop_last=True
)
for epoch in range(60):
    for xb, yb in loader:
        opt.zero_grad()
        loss = F.mse_loss(model(xb), yb)
        loss.backward()
        opt.step()
    if epoch % 10 == 0:
        print(epoch, loss.item())

# dropout stays on: the spread of the answers is the uncertainty
with torch.no_grad():
    samples = torch.stack([model(torch.tensor([[0.0], [3.5]])) for _ in range(50)])
print("mean", samples.mean(0).flatten().tolist(), "std", samples.std(0).flatten().tolist())
