import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(64, 5)
true_w = torch.tensor([[1.0], [-2.0], [0.5], [3.0], [0.0]])
Y = X @ true_w + 0.7

model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
loss_fn = nn.MSELoss()
for epoch in range(300):
    optimizer.zero_grad()
    loss = loss_fn(model(X), Y)
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        print(epoch, loss.item())
print(model.weight.data, model.bias.data)
