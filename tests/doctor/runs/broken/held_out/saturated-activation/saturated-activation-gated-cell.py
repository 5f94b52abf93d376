# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(9)


class GatedCell(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.gate = nn.Linear(n_in + n_hidden, n_hidden)
        self.candidate = nn.Linear(n_in + n_hidden, n_hidden)
        with whygrad.no_grad():
            self.gate.bias.fill_(25.0)  # expect: saturated-activation

    def forward(self, x, h):
        both = whygrad.cat([x, h], dim=1)
        keep = whygrad.sigmoid(self.gate(both))  # expect: saturated-activation
        return keep * h + (1 - keep) * whygrad.tanh(self.candidate(both))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = GatedCell(2, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, seq):
        h = whygrad.zeros(seq.shape[0], 16)
        for t in range(seq.shape[1]):
            h = self.cell(seq[:, t], h)
        return self.head(h)


seq = whygrad.randn(64, 6, 2)
target = seq[:, :, 0].mean(dim=1, keepdim=True)
model = Model()
optimizer = optim.Adam(model.parameters(), lr=0.01)
for step in range(80):
    loss = ((model(seq) - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, f"{loss.item():.5f}")
print("final", f"{loss.item():.5f}")
