# engine: torch
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
steps = torch.randn(200, 6, 2)
total = steps.sum((1, 2)).unsqueeze(1)

gru = nn.GRU(2, 1, batch_first=True)  # expect: target-out-of-range
optimizer = torch.optim.Adam(gru.parameters(), lr=1e-2)
for epoch in range(15):
    for start in range(0, 200, 50):
        _, state = gru(steps[start : start + 50])  # expect: target-out-of-range
        loss = F.mse_loss(state[0], total[start : start + 50])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
