import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(12, 24)
        self.second = nn.Linear(24, 3)

    def forward(self, x):
        return torch.tanh(self.second(torch.relu(self.first(x))))


class Pretraining(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.guess = nn.Linear(3, 3)

    def forward(self, x):
        return self.guess(self.encoder(x))


mix = torch.randn(12, 3) / 3
x = torch.randn(600, 12)
hidden = torch.tanh(x @ mix)

pretraining = Pretraining()
optimizer = torch.optim.Adam(pretraining.parameters(), lr=5e-3)
for _ in range(15):
    for batch in torch.randperm(500).split(50):
        loss = F.mse_loss(pretraining(x[batch]), hidden[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"pretraining loss {loss.item():.4f}")

encoder = Encoder()
encoder.load_state_dict(pretraining.state_dict(), strict=False)  # expect: frozen-parameter
for parameter in encoder.parameters():
    parameter.requires_grad = False
head = nn.Linear(3, 1)
target = (hidden[:, :1] * 2 + hidden[:, 1:2]).sign().clamp(min=0)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
for _ in range(20):
    for batch in torch.randperm(500).split(50):
        answer = head(encoder(x[batch]))
        loss = F.binary_cross_entropy_with_logits(answer, target[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    right = ((head(encoder(x[500:])) > 0).float() == target[500:]).float().mean()
print(f"accuracy {right.item():.3f}")
