"""One trunk, three tasks: class weights, ignored labels, ranking, similarity, and their sum."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 12), nn.SiLU())
        self.heads = nn.ModuleDict({"kind": nn.Linear(12, 3), "size": nn.Linear(12, 1)})
        self.weights = nn.ParameterList([nn.Parameter(torch.zeros(())) for _ in range(2)])

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared) for name, head in self.heads.items()}, shared


x = torch.sin(torch.arange(120) * 0.77).view(20, 6)
kind = torch.tensor([0, 1, 2, -100, 1] * 4)
size = x.abs().sum(1, keepdim=True)
model = MultiTask()
with torch.no_grad():
    for number, parameter in enumerate(model.parameters()):
        if parameter.dim():
            wave = torch.cos(torch.arange(parameter.numel()) * 1.3 + number)
            parameter.copy_(0.4 * wave.view_as(parameter))
print(model)
classify = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 0.5, 2.0]), ignore_index=-100)
measure = nn.HuberLoss(delta=0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(31):
    out, shared = model(x)
    losses = torch.stack([classify(out["kind"], kind), measure(out["size"], size)])
    certainty = torch.stack(list(model.weights))
    penalty = 1e-3 * sum(p.abs().sum() for p in model.trunk.parameters())
    total = (torch.exp(-certainty) * losses + certainty).sum() + penalty
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"{step}: {total.item():.4f}", [f"{each:.4f}" for each in losses.tolist()])

a, b, c = x[:5], x[5:10].clone().requires_grad_(), x[10:15]
sign = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0])
pairs = {
    "l1": F.l1_loss(b, a),
    "smooth": F.smooth_l1_loss(b, a, beta=0.3),
    "kl": F.kl_div(F.log_softmax(b, 1), F.softmax(a, 1), reduction="batchmean"),
    "cosine": F.cosine_embedding_loss(a, b, sign, margin=0.1),
    "ranking": F.margin_ranking_loss(a[:, 0], b[:, 0], sign, margin=0.5),
    "hinge": F.hinge_embedding_loss(b[:, 0], sign),
    "triplet": nn.TripletMarginLoss(margin=1.0)(a, b, c),
    "multi": F.multi_margin_loss(b, torch.tensor([0, 1, 2, 3, 4])),
    "soft": F.cross_entropy(b, F.softmax(c, 1), label_smoothing=0.1),
    "poisson": F.poisson_nll_loss(b, c.abs()),
    "gaussian": F.gaussian_nll_loss(b, a, torch.full((5, 6), 0.5)),
}
for name, loss in pairs.items():
    (gradient,) = torch.autograd.grad(loss, b)
    print(f"{name:9} {loss.item():.5f}  gradient {gradient.norm().item():.5f}")
