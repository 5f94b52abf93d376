import torch
from torch import nn, optim


class Scorer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.hidden = nn.Linear(n, 16)
        self.bn = nn.BatchNorm1d(16)  # expect: batchnorm-single-sample
        self.score = nn.Linear(16, 1)

    def forward(self, x):
        return self.score(torch.relu(self.bn(self.hidden(x))))  # expect: batchnorm-single-sample


def main():
    samples = [torch.randn(5) for _ in range(60)]
    model = Scorer(5)
    optimizer = optim.RMSprop(model.parameters(), lr=1e-3)
    for epoch in range(3):
        for sample in samples:
            x = sample.unsqueeze(0)  # expect: batchnorm-single-sample
            target = sample.sum().reshape(1, 1)
            loss = nn.functional.mse_loss(model(x), target)  # expect: batchnorm-single-sample
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


main()
