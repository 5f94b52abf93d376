# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(12)


class Lookup(nn.Module):
    """Compares queries with keys and mixes the values."""

    def __init__(self, dim=8):
        super().__init__()
        self.q = nn.Linear(dim, 16)
        self.k = nn.Linear(dim, 16)

    def forward(self, queries, keys, values):
        scores = self.q(queries) @ self.k(keys).transpose(1, 2)
        attention = whygrad.softmax(scores, dim=1)  # expect: wrong-dim
        return attention @ values


def make_batch(n=16, length=10):
    keys = whygrad.randn(n, length, 8)
    values = whygrad.randn(n, length, 1)
    pick = whygrad.randint(0, length, (n, length))
    rows = whygrad.arange(n).unsqueeze(1)
    return keys[rows, pick], keys, values, values[rows, pick]


model = Lookup()
optimizer = optim.Adam(model.parameters(), lr=0.01)
for step in range(250):
    queries, keys, values, wanted = make_batch()
    loss = ((model(queries, keys, values) - wanted) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"{step}: {loss.item():.4f}")
print(f"final: {loss.item():.4f}")
