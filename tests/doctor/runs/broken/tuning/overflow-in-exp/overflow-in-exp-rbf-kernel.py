import torch
import torch.nn as nn
import torch.nn.functional as F


class RBFNet(nn.Module):
    def __init__(self, n_in, centers):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(centers, n_in))
        self.sigma = 0.4
        self.out = nn.Linear(centers, 1)

    def forward(self, x):
        squared = ((x.unsqueeze(1) - self.centers) ** 2).sum(dim=2)
        phi = torch.exp(squared / (2 * self.sigma**2))  # expect: overflow-in-exp
        return self.out(phi)


torch.manual_seed(0)
x = torch.randn(200, 6)
y = torch.sin(x.sum(dim=1, keepdim=True))
model = RBFNet(6, 30)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(60):
    for idx in torch.randperm(200).split(50):
        loss = F.mse_loss(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
