import torch
import torch.nn.functional as F
from torch import nn


class Embed(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 32), nn.Tanh(), nn.Linear(32, 4))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def info_nce(a, b, temperature=0.01):
    logits = a @ b.t() / temperature
    probs = torch.softmax(logits, dim=1)  # expect: unstable-loss
    return -torch.log(probs.diagonal()).mean()  # expect: unstable-loss


torch.manual_seed(5)
images, captions = Embed(8), Embed(6)
mixing = torch.randn(3, 14)
optimizer = torch.optim.Adam([*images.parameters(), *captions.parameters()], lr=3e-3)
for step in range(150):
    view = torch.randn(64, 3) @ mixing
    loss = info_nce(images(view[:, :8]), captions(view[:, 8:]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.4f}")
