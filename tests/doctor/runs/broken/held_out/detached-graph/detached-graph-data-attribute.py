import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.hidden = hidden
        self.inp = nn.Linear(n_in, hidden)
        self.rec = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, seq):
        h = torch.zeros(seq.shape[1], self.hidden)
        for x in seq:
            h = torch.tanh(self.inp(x) + self.rec(h))
        last = h.data  # expect: detached-graph
        return self.out(last)  # expect: detached-graph


torch.manual_seed(2)
seq = torch.randn(8, 128, 1)
target = seq[0] * seq[1] + seq[-1]

model = Recurrent(1, 24)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
for it in range(150):
    optimizer.zero_grad()
    loss = loss_fn(model(seq), target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if it % 25 == 0:
        print(f"iter {it}: {loss.item():.4f}")
print(f"final: {loss.item():.4f}")
