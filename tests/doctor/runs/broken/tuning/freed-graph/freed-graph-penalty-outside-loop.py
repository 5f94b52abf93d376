# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(5)
x = whygrad.randn(100, 10)
y = x[:, :1] - 2 * x[:, 1:2] + 0.1 * whygrad.randn(100, 1)

model = nn.Linear(10, 1)
optimizer = optim.SGD(model.parameters(), lr=0.05)
penalty = 0.01 * (model.weight**2).sum()  # expect: freed-graph

for epoch in range(80):
    loss = nn.functional.mse_loss(model(x), y) + penalty  # expect: freed-graph
    optimizer.zero_grad()
    loss.backward()  # expect: freed-graph
    optimizer.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
