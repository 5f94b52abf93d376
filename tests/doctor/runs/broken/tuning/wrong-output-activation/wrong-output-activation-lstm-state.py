import torch
import torch.nn as nn

torch.manual_seed(0)
series = torch.randn(256, 8, 3)
labels = (series[:, :, 0].sum(1) > 0).long() + (series[:, :, 1].sum(1) > 0).long()


class Reader(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.lstm = nn.LSTM(features, classes, batch_first=True)

    def forward(self, x):
        states, _ = self.lstm(x)  # expect: wrong-output-activation
        return states[:, -1]


model = Reader(3, 3)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(60):
    idx = torch.randint(256, (64,))
    loss = criterion(model(series[idx]), labels[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
