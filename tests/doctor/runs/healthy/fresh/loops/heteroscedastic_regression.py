# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(0)
x = whygrad.rand(300, 1) * 2 - 1
noise = 0.02 + 0.1 * x.abs()
y = 0.5 * x**2 + noise * whygrad.randn(300, 1)
x_train, y_train, x_val, y_val = x[:240], y[:240], x[240:], y[240:]


class MeanVar(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 32), nn.Tanh())
        self.mean = nn.Linear(32, 1)
        self.log_var = nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_var(h)


def nll(mean, log_var, target):
    return 0.5 * (log_var + (target - mean) ** 2 / log_var.exp()).mean()


model = MeanVar()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(150):
    optimizer.zero_grad()
    mean, log_var = model(x_train)
    loss = nll(mean, log_var, y_train)
    loss.backward()
    optimizer.step()
    if epoch % 30 == 0:
        with whygrad.no_grad():
            val = nll(*model(x_val), y_val)
        print(f"epoch {epoch}: train {loss.item():.3f} val {val.item():.3f}")
