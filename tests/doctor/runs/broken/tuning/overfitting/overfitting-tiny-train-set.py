import torch
import torch.nn as nn

torch.manual_seed(82)


def make_split(n):
    x = torch.randn(n, 20)
    y = (x[:, 0] + 0.8 * torch.randn(n) > 0).long()
    return x, y


x_train, y_train = make_split(40)  # expect: overfitting
x_val, y_val = make_split(400)

model = nn.Sequential(  # expect: overfitting
    nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2)
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

for epoch in range(100):  # expect: overfitting
    model.train()
    optimizer.zero_grad()
    loss = criterion(model(x_train), y_train)
    loss.backward()
    optimizer.step()

    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(x_val), y_val)
    if epoch % 10 == 0:
        print(f"epoch {epoch:3d} train {loss.item():.4f} val {val_loss.item():.4f}")
