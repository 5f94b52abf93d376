import torch
import torch.nn as nn

torch.manual_seed(0)


class DeepNet(nn.Module):
    def __init__(self, n_in, n_hidden, n_layers, n_out):
        super().__init__()
        layers = [nn.Linear(n_in, n_hidden), nn.Sigmoid()]  # expect: vanishing-gradient
        for _ in range(n_layers):
            layers += [nn.Linear(n_hidden, n_hidden), nn.Sigmoid()]  # expect: vanishing-gradient
        layers.append(nn.Linear(n_hidden, n_out))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


X = torch.randn(200, 2)
y = (X.norm(dim=1) > 1.1).long()

model = DeepNet(2, 32, 5, 2)  # expect: vanishing-gradient
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for epoch in range(150):
    optimizer.zero_grad()
    loss = criterion(model(X), y)
    loss.backward()
    optimizer.step()
    if epoch % 25 == 0:
        acc = (model(X).argmax(1) == y).float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc.item():.2f}")
