"""An LSTM continues a sine wave, then keeps going from what it said itself."""

import torch
import torch.nn as nn


class Forecaster(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        out, state = self.lstm(x, state)
        return self.head(out), state


def fill(model):
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            values = torch.sin(torch.arange(parameter.numel()) * 0.7 + number)
            parameter.copy_(0.3 * values.view_as(parameter))


time = torch.arange(41) * 0.3
waves = torch.stack([torch.sin(time + shift) for shift in torch.arange(6)]).unsqueeze(-1)
inputs, targets = waves[:, :-1], waves[:, 1:]

model = Forecaster()
fill(model)
print(model)
print([f"{name} {list(p.shape)}" for name, p in model.lstm.named_parameters()])
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(31):
    predictions, _ = model(inputs)
    loss = criterion(predictions, targets)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}, gradient norm {norm.item():.3f}")

model.eval()
with torch.no_grad():
    predictions, state = model(inputs[:1])
    step = predictions[:, -1:]
    told = []
    for _ in range(5):
        step, state = model(step, state)
        told.append(step.item())
print("continues with", [f"{value:.3f}" for value in told])
print(state[0].shape, state[1].shape)
