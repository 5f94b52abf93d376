"""What looks like a fault and is meant so: sound programs that were once accused, and near them
programs with the fault itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask

TRAIN = """
for step in range({steps}):
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

SIGNS = """
class Signs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return {forward}

    @staticmethod
    def backward(ctx, gradient):
        (w,) = ctx.saved_tensors
        return gradient * (w.abs() <= 1).to(gradient.dtype)

weight = nn.Parameter(torch.randn(12, 8) * 0.3)
inputs = torch.randn(64, 8)
optimizer = torch.optim.SGD([weight], lr=0.01)
""" + TRAIN.format(
    steps=12, loss="((inputs @ Signs.apply(weight).T).mean(1) - y[:, 0]).square().mean()"
)

SAMPLED = """
energy = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3)

def cost(at):
    return energy(at).squeeze(-1) + 0.1 * (at ** 2).sum(-1)

def sampled(at):
    for _ in range(3):
        at = at.detach().requires_grad_()
        slope, = torch.autograd.grad(cost(at).sum(), at)
        at = at - 0.1 * slope + 0.1 * torch.randn_like(at)
    return at.detach()

for step in range(20):
    loss = cost(x).mean() - cost(sampled(torch.randn(64, 4))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

CRITIC = """
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)

def penalty(real, fake):
    part = torch.rand(len(real), 1)
    between = (part * real + (1 - part) * fake).requires_grad_()
    slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()

for step in range(120):
    real, fake = torch.randn(64, 4) + 0.1, torch.randn(64, 4)
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(real, fake)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

MASKED = """
inputs = torch.randn(400, 4)
target = (torch.rand(400, 6) < 0.25).float()
mask = (torch.arange(6)[None] < torch.randint(1, 7, (400, 1))).float()
target = target * mask
net = nn.Linear(4, 6)
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(200):
    each = F.binary_cross_entropy_with_logits(net(inputs), target, reduction="none")
    loss = (each * mask).sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

FILTER = (
    """
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
"""
    + TRAIN.format(steps=30, loss="(net(x) - y).square().mean()")
    + """
@torch.no_grad()
def report(name, model):
    print(name, (model(x) - y).square().mean().item())

report("as it began", nn.Linear(4, 1))
{trained}
"""
)

TWO_SETS = (
    """
inputs = torch.randn(300, 8)
label = (inputs[:, :2].sum(1) > 0).long()
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
seen, other = slice(0, 200), slice(200, 300)

@torch.no_grad()
def accuracy(samples, labels):
    return (net(samples).argmax(1) == labels).float().mean().item()

"""
    + TRAIN.format(steps=200, loss="F.cross_entropy(net(inputs[seen]), label[seen])")
    + """
print(accuracy(inputs[other], label[other]))
print(accuracy(-inputs[other], label[other]))
"""
)

GRID = (
    """
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
inputs = torch.rand(256, 2) * 0.5
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
"""
    + TRAIN.format(steps=40, loss="(net(inputs) - inputs.sum(1, keepdim=True)).square().mean()")
    + """
@torch.no_grad()
def surface():
    side = torch.linspace(-4, 4, 20)
    test_x = torch.cartesian_prod(side, side)
    return net(test_x).mean().item()

@torch.no_grad()
def judged():
    ticks = torch.linspace(-4, 4, 5)  # for a plot: no grid that the model is asked about
    test_x = torch.rand(400, 2) * 8 - 4
    return net(test_x).mean().item()

print({asked}())
"""
)

ATTACK = (
    """
labels = (x[:, 0] > 0).long()
victim = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(victim.parameters(), lr=1e-2)
"""
    + TRAIN.format(steps=60, loss="F.cross_entropy(victim(x), labels)")
    + """
victim.requires_grad_(False)
delta = nn.Parameter(torch.zeros(1, 4))
optimizer = torch.optim.Adam([delta], lr=0.1, maximize=True)
"""
    + TRAIN.format(steps=60, loss="F.cross_entropy(victim(x + delta), labels)")
)

# A rule, a sound program, and the same with the fault, if one line makes it.
PROGRAMS = {
    "signs-with-a-scale-per-row": (
        "wrong-backward",
        SIGNS.format(forward="torch.where(w >= 0, 1.0, -1.0) * w.abs().mean(1, keepdim=True)"),
        SIGNS.format(forward="w ** 3 + w"),
    ),
    "samples-moved-by-a-derivative": ("detached-graph", SAMPLED, None),
    "a-critic-held-by-its-penalty": ("over-regularized", CRITIC, None),
    "an-attack-goes-uphill": ("lr-too-high", ATTACK, None),
    "a-masked-loss": ("not-learning", MASKED, None),
    "beside-the-trained-one": (
        "checkpoint-state",
        FILTER.format(trained='report("as it is", net)'),
        FILTER.format(trained=""),
    ),
    "another-domain": ("overfitting", TWO_SETS, None),
    "a-grid": (
        "preprocessing-mismatch",
        GRID.format(asked="surface"),
        GRID.format(asked="judged"),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_meant_so_is_not_accused(name: str, tmp_path: Path) -> None:
    rule, sound, _ = PROGRAMS[name]
    assert ask(tmp_path, rule, sound) == []


@pytest.mark.parametrize("name", [name for name, each in PROGRAMS.items() if each[2] is not None])
def test_the_fault_itself_is(name: str, tmp_path: Path) -> None:
    rule, _, broken = PROGRAMS[name]
    assert [each.rule for each in ask(tmp_path, rule, broken or "")] == [rule]
