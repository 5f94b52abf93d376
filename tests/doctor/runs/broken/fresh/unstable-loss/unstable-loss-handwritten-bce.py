import torch
import torch.nn as nn

torch.manual_seed(0)

X = torch.cat([torch.randn(100, 20) + 1.5, torch.randn(100, 20) - 1.5])
y = torch.cat([torch.ones(100, 1), torch.zeros(100, 1)])


class LogisticRegression(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.linear = nn.Linear(n_features, 1)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))  # expect: unstable-loss


def bce(y_hat, y):
    return -(y * torch.log(y_hat) + (1 - y) * torch.log(1 - y_hat)).mean()  # expect: unstable-loss


model = LogisticRegression(20)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(200):
    y_hat = model(X)
    loss = bce(y_hat, y)  # expect: unstable-loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print(f"Epoch {epoch}, loss {loss.item():.5f}")
