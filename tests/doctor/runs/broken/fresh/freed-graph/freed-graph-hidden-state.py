import torch
import torch.nn as nn

torch.manual_seed(0)

series = torch.sin(torch.arange(0, 401) * 0.15).unsqueeze(1)


class Forecaster(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x, state):
        out, state = self.lstm(x, state)
        return self.fc(out), state


model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.MSELoss()
state = (torch.zeros(1, 1, 16), torch.zeros(1, 1, 16))  # expect: freed-graph

for start in range(0, 400, 20):
    inputs = series[start : start + 20].unsqueeze(0)
    targets = series[start + 1 : start + 21].unsqueeze(0)
    optimizer.zero_grad()
    output, state = model(inputs, state)  # expect: freed-graph
    loss = criterion(output, targets)
    loss.backward()  # expect: freed-graph
    optimizer.step()
    print(start, loss.item())
