import torch
import torch.nn as nn

torch.manual_seed(0)

N, T = 96, 8
x = torch.randn(N, T, 4)
y = x.sum(dim=-1).tanh()
lengths = torch.randint(1, T + 1, (N,))
lengths[40:44] = 0
mask = (torch.arange(T)[None, :] < lengths[:, None]).float()


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 16, batch_first=True)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h).squeeze(-1)


def masked_mse(pred, target, mask):
    err = (pred - target) ** 2 * mask
    return err.sum() / mask.sum()  # expect: nan-from-division


model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(5):
    for i in range(0, N, 4):
        pred = model(x[i : i + 4])
        loss = masked_mse(pred, y[i : i + 4], mask[i : i + 4])  # expect: nan-from-division
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
