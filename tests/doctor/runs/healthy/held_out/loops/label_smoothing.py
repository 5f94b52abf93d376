import torch
from torch import nn

torch.manual_seed(4)
x = torch.randn(500, 8)
y = (x[:, :4] + 0.5 * x[:, 4:]).argmax(dim=1)
x_val, y_val = x[400:], y[400:]
x, y = x[:400], y[:400]

model = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 4))
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=3, factor=0.5)

best = float("inf")
for epoch in range(15):
    model.train()
    for i in range(0, 400, 40):
        optimizer.zero_grad()
        loss = criterion(model(x[i : i + 40]), y[i : i + 40])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        out = model(x_val)
        val_loss = criterion(out, y_val).item()
        val_acc = (out.argmax(1) == y_val).float().mean().item()
    scheduler.step(val_loss)
    best = min(best, val_loss)
    print(f"{epoch} train {loss.item():.3f} val {val_loss:.3f} acc {val_acc:.2f} best {best:.3f}")
