import torch
import torch.nn as nn
import torch.nn.functional as F


class HalfLinear(nn.Linear):
    """Keeps its weights in float32 and multiplies in float16."""

    def forward(self, x):
        weight, bias = self.weight.half(), self.bias.half()  # expect: float16-range
        return F.linear(x.half(), weight, bias)  # expect: float16-range


torch.manual_seed(4)
clean = torch.tanh(torch.randn(512, 4) @ torch.randn(4, 64))
noisy = clean + 0.1 * torch.randn(512, 64)

model = nn.Sequential(HalfLinear(64, 48), nn.ReLU(), HalfLinear(48, 64))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
weight = 1e-4
for step in range(60):
    out = model(noisy).float()  # expect: float16-range
    reconstruction = F.mse_loss(out, clean)
    loss = weight * reconstruction  # expect: float16-range
    optimizer.zero_grad()
    loss.backward()  # expect: float16-range
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: reconstruction {reconstruction.item():.4f}")
