import torch
import torch.nn as nn

torch.manual_seed(1)
X = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])


class XOR(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 4)
        self.output = nn.Linear(4, 1)

    def forward(self, x):
        x = torch.sigmoid(self.hidden(x))
        return torch.sigmoid(self.output(x))


model = XOR()
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=2.0, momentum=0.9)
for epoch in range(600):
    optimizer.zero_grad()
    loss = criterion(model(X), Y)
    loss.backward()
    optimizer.step()
    if epoch % 60 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")
print(model(X).detach().flatten())
