import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin1 = nn.Linear(4, 20)
        self.lin2 = nn.Linear(20, 1)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.lin2(self.act(self.lin1(x)))  # expect: wrong-output-activation


def train(model, x, y, epochs=50):
    criterion = nn.BCELoss()  # expect: wrong-output-activation
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.005)
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = criterion(model(x), y)  # expect: wrong-output-activation
        loss.backward()
        optimizer.step()
        if epoch % 10 == 0:
            print(epoch, loss.item())


torch.manual_seed(48)
x = torch.randn(100, 4)
y = (x.sum(dim=1, keepdim=True) > 0).float()
train(Net(), x, y)
