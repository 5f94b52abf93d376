import torch
import torch.nn as nn

x = torch.randn(256, 6)
y = (x[:, 0] * 2 - x[:, 3] > 0).float().unsqueeze(1)

model = nn.Sequential(
    nn.Linear(6, 16),
    nn.ReLU(),
    nn.Linear(16, 1),
    nn.Softmax(dim=1),  # expect: softmax-over-one
)
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(100):
    optimizer.zero_grad()
    prediction = model(x)
    loss = criterion(prediction, y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        accuracy = ((prediction > 0.5).float() == y).float().mean().item()
        print(f"epoch {epoch:3d} loss {loss.item():.4f} accuracy {accuracy:.3f}")
