import torch
from torch import nn, optim


class RMSNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(n))

    def forward(self, x):
        half = x.to(torch.float16)
        power = (half * half).sum(dim=1, keepdim=True)  # expect: float16-range
        rms = torch.sqrt(power / x.shape[1] + 1e-3)
        return self.gain * (half / rms).to(torch.float32)


torch.manual_seed(0)
pixels = torch.randint(0, 256, (300, 64)).float()
labels = (pixels[:, :32].sum(dim=1) > pixels[:, 32:].sum(dim=1)).long()
model = nn.Sequential(RMSNorm(64), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(30):
    correct = 0
    for idx in torch.randperm(300).split(30):
        out = model(pixels[idx])
        loss = criterion(out, labels[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (out.argmax(dim=1) == labels[idx]).sum().item()
    if epoch % 6 == 5:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f} accuracy {correct / 300:.3f}")
