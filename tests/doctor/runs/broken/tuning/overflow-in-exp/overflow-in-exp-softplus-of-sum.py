# engine: whygrad
import whygrad
from whygrad import nn, optim
from whygrad.nn import functional as F


def softplus(x):
    return whygrad.log(1 + whygrad.exp(x))  # expect: overflow-in-exp


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.event = nn.Linear(2, 16)
        self.rate = nn.Linear(16, 1)

    def forward(self, events):
        seen = whygrad.relu(self.event(events)).sum(dim=1)
        return softplus(self.rate(seen))


whygrad.manual_seed(1)
model = Counter()
with whygrad.no_grad():
    model.rate.weight.abs_()
optimizer = optim.Adam(model.parameters(), lr=2e-3)
for step in range(100):
    length = 20 + 4 * step
    events = whygrad.randn(16, length, 2)
    count = (events[:, :, 0] > 0).float().sum(dim=1, keepdim=True)
    loss = F.l1_loss(model(events), count) / length
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: length {length} loss {loss.item():.4f}")
