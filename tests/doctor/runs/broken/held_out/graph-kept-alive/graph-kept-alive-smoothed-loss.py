# engine: whygrad
import whygrad
from whygrad import nn, optim
from whygrad.nn import functional as F

whygrad.manual_seed(2)
model = nn.Sequential(nn.Linear(6, 48), nn.GELU(), nn.Linear(48, 48), nn.GELU(), nn.Linear(48, 1))
optimizer = optim.Adam(model.parameters(), lr=2e-3)

smooth = None
for step in range(250):
    x = whygrad.randn(32, 6)
    y = whygrad.sin(x[:, :1]) + x[:, 1:2] ** 2
    loss = F.smooth_l1_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    smooth = loss if smooth is None else 0.95 * smooth + 0.05 * loss  # expect: graph-kept-alive
    if step % 50 == 49:
        print(f"step {step + 1}: smoothed loss {smooth.item():.4f}")
