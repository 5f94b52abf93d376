import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv1d(1, 4, 3, padding=1), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)
)
model.eval()

with torch.no_grad():
    for batch in range(4):
        signal = torch.randn(5, 1, 16)
        probabilities = torch.softmax(model(signal), dim=1)
        print(batch, probabilities.argmax(dim=1).tolist(), probabilities.max().item())
