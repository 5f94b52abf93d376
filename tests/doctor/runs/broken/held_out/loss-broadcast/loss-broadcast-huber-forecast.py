import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(1)
series = np.sin(np.arange(260) * 0.3) + 0.05 * np.random.randn(260)
window = 10
inputs = np.stack([series[i : i + window] for i in range(250)])
inputs = torch.tensor(inputs, dtype=torch.float32).unsqueeze(-1)
nexts = torch.tensor(series[window:], dtype=torch.float32)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 16, batch_first=True)
        self.fc = nn.Linear(16, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1])


torch.manual_seed(58)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(60):
    optimizer.zero_grad()
    loss = F.smooth_l1_loss(model(inputs), nexts)  # expect: loss-broadcast
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 5))
print("final", round(loss.item(), 5))
