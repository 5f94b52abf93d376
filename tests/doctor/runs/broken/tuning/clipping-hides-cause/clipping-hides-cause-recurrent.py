# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(3)


class LinearRecurrence(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.inp = nn.Linear(2, hidden)
        self.rec = nn.Parameter(0.6 * whygrad.randn(hidden, hidden))  # also: exploding-gradient
        self.out = nn.Linear(hidden, 1)

    def forward(self, seq):
        h = whygrad.zeros(seq.shape[0], 16)
        for t in range(seq.shape[1]):
            h = self.inp(seq[:, t]) + h @ self.rec  # also: exploding-gradient
        return self.out(h)


seq = whygrad.randn(48, 16, 2)
target = seq[:, -4:, 0].mean(dim=1, keepdim=True)
model = LinearRecurrence()
optimizer = optim.SGD(model.parameters(), lr=0.01)

for step in range(80):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(seq), target)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: clipping-hides-cause
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
print("final", loss.item())
