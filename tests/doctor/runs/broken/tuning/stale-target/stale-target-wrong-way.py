import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Siamese(nn.Module):
    """Two views of a sample are to get the same code; one branch is an average of the other."""

    def __init__(self, width=16):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, width))
        self.predictor = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, width))
        self.target = copy.deepcopy(self.online)
        for parameter in self.target.parameters():
            parameter.requires_grad_(False)

    def forward(self, one, other):
        guess = self.predictor(self.online(one))
        with torch.no_grad():
            wanted = self.target(other)
        return 2 - 2 * F.cosine_similarity(guess, wanted, dim=1).mean()

    @torch.no_grad()
    def follow(self, decay=0.95):
        pairs = zip(self.online.parameters(), self.target.parameters())
        for online, target in pairs:
            online.mul_(decay).add_((1 - decay) * target)  # expect: stale-target


torch.manual_seed(0)
model = Siamese()
trained = [*model.online.parameters(), *model.predictor.parameters()]
optimizer = torch.optim.Adam(trained, lr=2e-3)
samples = torch.randn(400, 8)
for epoch in range(12):
    order = torch.randperm(400)
    for start in range(0, 400, 50):
        batch = samples[order[start : start + 50]]
        views = [batch + 0.1 * torch.randn(50, 8) for _ in range(2)]
        loss = model(*views)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # expect: stale-target
        model.follow()  # expect: stale-target
    print(f"epoch {epoch}: loss {loss.item():.4f}")
