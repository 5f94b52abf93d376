import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.linspace(-3.1416, 3.1416, 400)
y = torch.sin(x)
xx = x.unsqueeze(-1).pow(torch.tensor([1, 2, 3])) / torch.tensor([1.0, 5.0, 10.0])

model = nn.Sequential(nn.Linear(3, 1), nn.Flatten(0, 1))
loss_fn = nn.MSELoss(reduction="sum")
learning_rate = 2e-4

for t in range(150):
    y_pred = model(xx)
    loss = loss_fn(y_pred, y)
    if t % 25 == 0:
        print(t, loss.item())
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for param in model.parameters():
            param -= learning_rate * param.grad
print("final", loss.item())
