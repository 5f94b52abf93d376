import torch
import torch.nn as nn

TEMPERATURE = 0.07

torch.manual_seed(1)
data = torch.randn(300, 10)
encoder = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 16))
optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)


def info_nce(one, other):
    one = one / one.norm(dim=1, keepdim=True)
    other = other / other.norm(dim=1, keepdim=True)
    similar = torch.mm(one, other.t()) * TEMPERATURE  # expect: flat-similarity
    right = torch.log_softmax(similar, dim=1).diagonal()
    return -right.mean()


for step in range(80):
    rows = torch.randint(0, 300, (40,))
    x = data[rows]
    loss = info_nce(encoder(x + 0.1 * torch.randn(40, 10)), encoder(x + 0.1 * torch.randn(40, 10)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
