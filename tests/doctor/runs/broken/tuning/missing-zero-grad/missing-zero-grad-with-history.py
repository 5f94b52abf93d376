import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    def __init__(self, window, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.lstm(x.unsqueeze(-1))
        return self.out(h[:, -1])


wave = torch.sin(torch.arange(300) * 0.3)
windows = torch.stack([wave[i : i + 10] for i in range(280)])
targets = wave[10:290].unsqueeze(1)
loader = DataLoader(TensorDataset(windows, targets), batch_size=14, shuffle=True)

torch.manual_seed(2)
model = Forecaster(10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
history = []
for epoch in range(12):
    for x, y in loader:  # expect: missing-zero-grad
        loss = F.mse_loss(model(x), y)
        loss.backward()  # expect: missing-zero-grad
        optimizer.step()  # expect: missing-zero-grad
        history.append(loss)  # also: graph-kept-alive
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {history[-1]:.4f}")
