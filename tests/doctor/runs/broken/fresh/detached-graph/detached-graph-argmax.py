import torch
import torch.nn as nn

torch.manual_seed(1)

X = torch.randn(200, 10)
y = (X[:, 0] + X[:, 1] > 0).long()

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()

for epoch in range(60):
    optimizer.zero_grad()
    outputs = model(X)
    predicted = torch.argmax(outputs, dim=1).float()  # expect: detached-graph
    loss = criterion(predicted, y.float())  # expect: detached-graph
    loss.requires_grad = True  # expect: detached-graph
    loss.backward()  # expect: detached-graph
    optimizer.step()
    if epoch % 10 == 0:
        print(f"Epoch {epoch} loss {loss.item():.4f}")
