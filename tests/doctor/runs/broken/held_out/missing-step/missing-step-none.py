# engine: whygrad
import whygrad
from whygrad import nn, optim
from whygrad.utils.data import DataLoader, TensorDataset

x = whygrad.randn(200, 6)
y = x @ whygrad.randn(6, 2)
loader = DataLoader(TensorDataset(x, y), batch_size=20)
model = nn.Linear(6, 2)
optimizer = optim.SGD(model.parameters(), lr=0.05)

for epoch in range(15):
    for xb, yb in loader:  # expect: missing-step
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()  # expect: missing-step
    print("epoch", epoch, "loss", round(loss.item(), 4))
