# engine: whygrad
import whygrad
from whygrad import nn

whygrad.manual_seed(0)
whygrad.set_default_dtype(whygrad.float64)
x = whygrad.linspace(-2, 2, 50).unsqueeze(1)
y = whygrad.tanh(2 * x) + 0.3 * x

net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
loss_fn = nn.MSELoss()
optimizer = whygrad.optim.LBFGS(net.parameters(), lr=0.5, history_size=10, max_iter=5)

for epoch in range(15):

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        return loss

    optimizer.step(closure)
    with whygrad.no_grad():
        print(epoch, f"{loss_fn(net(x), y).item():.3e}")
