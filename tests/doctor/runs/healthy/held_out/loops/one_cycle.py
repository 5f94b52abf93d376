import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(50)
theta = torch.rand(600) * 9
arm = torch.randint(0, 2, (600,))
spiral = torch.stack([torch.cos(theta + 3.14159 * arm), torch.sin(theta + 3.14159 * arm)], dim=1)
points = spiral * (theta / 9).unsqueeze(1) + 0.02 * torch.randn(600, 2)
loader = DataLoader(TensorDataset(points, arm), batch_size=60, shuffle=True)

model = nn.Sequential(
    nn.Linear(2, 64), nn.LeakyReLU(), nn.Linear(64, 64), nn.LeakyReLU(), nn.Linear(64, 2)
)
epochs = 25
optimizer = torch.optim.Adam(model.parameters())
scheduler = OneCycleLR(optimizer, max_lr=0.03, epochs=epochs, steps_per_epoch=len(loader))
loss_fn = nn.CrossEntropyLoss()

for epoch in range(epochs):
    for x, label in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), label)
        loss.backward()
        optimizer.step()
        scheduler.step()
    if epoch % 5 == 4:
        accuracy = (model(points).argmax(1) == arm).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} accuracy {accuracy:.3f}")
