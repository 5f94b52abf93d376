import torch
import torch.nn as nn

torch.manual_seed(0)

metres = torch.rand(320, 4)
weight = metres @ torch.tensor([[2.0], [1.0], [-1.0], [0.5]])

lengths = metres.clone()
lengths[160:176] = lengths[160:176] * 1000  # expect: outlier-batch

model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
loss_fn = nn.MSELoss()

losses = []
for epoch in range(6):
    for i in range(0, len(lengths), 16):  # expect: outlier-batch
        xb, yb = lengths[i : i + 16], weight[i : i + 16]  # expect: outlier-batch
        pred = model(xb)  # expect: outlier-batch
        loss = loss_fn(pred, yb)  # expect: outlier-batch
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch} mean loss {sum(losses[-20:]) / 20:.5f}")
