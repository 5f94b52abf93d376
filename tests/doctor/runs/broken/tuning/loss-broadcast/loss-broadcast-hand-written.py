import torch

torch.manual_seed(56)
x = torch.linspace(-1, 1, 100).reshape(-1, 1)
y = (2 * x + 0.3 + 0.05 * torch.randn(100, 1)).squeeze()

weight = torch.randn(1, 1, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight, bias], lr=0.2)


def mean_squared_error(prediction, target):
    return ((prediction - target) ** 2).mean()  # expect: loss-broadcast


for epoch in range(80):
    prediction = x @ weight + bias
    loss = mean_squared_error(prediction, y)  # expect: loss-broadcast
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")
print("slope", weight.item(), "intercept", bias.item())
