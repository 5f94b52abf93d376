# engine: torch
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(256, 16)
y = (x @ torch.randn(16, 3)).argmax(1)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)

for step in range(100):
    idx = torch.randint(0, 256, (64,))
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(x[idx])
        loss = F.cross_entropy(logits.float(), y[idx])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 20 == 0:
        print(step, logits.dtype, loss.item())
