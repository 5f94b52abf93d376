import torch
import torch.nn as nn

torch.manual_seed(0)


class ChurnModel(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 32)
        self.fc2 = nn.Linear(32, 1)
        self.sigmoid = nn.Sigmoid()  # expect: wrong-output-activation

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return self.sigmoid(self.fc2(x))  # expect: wrong-output-activation


X = torch.randn(400, 8)
y = (X[:, 0] + X[:, 3] > 0).float().unsqueeze(1)

model = ChurnModel(8)
criterion = nn.BCEWithLogitsLoss()  # expect: wrong-output-activation
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(100):
    y_pred = model(X)
    loss = criterion(y_pred, y)  # expect: wrong-output-activation
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}")
