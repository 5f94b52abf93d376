import torch
import torch.nn as nn

torch.manual_seed(0)

t = torch.arange(0, 300) * 0.1
series = torch.sin(t) + 0.05 * torch.randn(300)
windows = torch.stack([series[i : i + 16] for i in range(280)]).unsqueeze(-1)
targets = torch.stack([series[i + 16] for i in range(280)]).unsqueeze(-1)
x_train, y_train, x_val, y_val = windows[:220], targets[:220], windows[220:], targets[220:]


class LSTMModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 16, batch_first=True)
        self.linear = nn.Linear(16, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.linear(out[:, -1])


model = LSTMModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
for epoch in range(6):
    model.train()
    for i in range(0, 220, 22):
        loss = loss_fn(model(x_train[i : i + 22]), y_train[i : i + 22])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        train_rmse = loss_fn(model(x_train), y_train).sqrt()
        val_rmse = loss_fn(model(x_val), y_val).sqrt()
    print(f"Epoch {epoch}: train RMSE {train_rmse.item():.4f}, val RMSE {val_rmse.item():.4f}")
