# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(2)

signal = whygrad.randn(128, 12)
mixing = whygrad.randn(12, 4) / 12**0.5
target = whygrad.tanh(signal @ mixing)

model = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 4))
optimizer = optim.AdamW(model.parameters(), lr=1e-7)  # expect: lr-too-low
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=150)

for step in range(150):
    loss = nn.functional.mse_loss(model(signal), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 25 == 0:
        print(step, round(loss.item(), 5))
print("done", round(loss.item(), 5))
