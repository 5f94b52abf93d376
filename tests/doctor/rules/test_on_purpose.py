"""What looks like a fault and is meant so: sound programs that were once accused, and near them
programs with the fault itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, watched
from whygrad.doctor.source.naming import held_out_name

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

MIXTURE = """
class Mixture(nn.Module):
    def __init__(self, several):
        super().__init__()
        self.share, self.place = nn.Linear(4, several), nn.Linear(4, several)
    def forward(self, x):
        return F.log_softmax(self.share(x), dim=-1), self.place(x)

def train(several):
    net = Mixture(several)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(20):
        shares, places = net(x)
        loss = -torch.logsumexp(shares - (places - y) ** 2, dim=-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

for several in {several}:
    train(several)
"""

BENT = """
labels = (x[:, 0] * x[:, 1] > 0).long()
def train(bend):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 32), bend, nn.Linear(32, 32), bend, nn.Linear(32, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(100):
        loss = F.cross_entropy(net(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

for bend in {bends}:
    train(bend)
"""

BEGUN = """
labels = (x[:, 0] > 0).long()
def train(begin):
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
    for layer in net[::2]:
        begin(layer.weight)
        nn.init.zeros_(layer.bias)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(60):
        loss = F.cross_entropy(net(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

for begin in {ways}:
    train(begin)
"""

FOLDS = """
labels = 1 + x[:, 0].clamp(-0.5, 0.5).mul(2).sign().long()
labels[x[:, 0].abs() < 0.5] = 1
x = torch.cat([x[:, :1], 0.1 * x[:, 1:]], 1)
means, guesses = [], []
for fold in range(6):
    held = torch.arange(64) % 6 == fold
    known, others = labels[~held], labels[held]
    net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for step in range(80):
        loss = F.cross_entropy(net(x[~held]), known)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        answers = net(x[held])
    means.append((answers.argmax(1) == others).float().mean().item())
    most = torch.bincount(known).argmax()
    guesses.append((others == most).float().mean().item())
"""

LARGEST = """
class Largest(torch.autograd.Function):
    @staticmethod
    def forward(ctx, given):
        out, at = given.view(len(given), -1, 4).max(-1)
        ctx.save_for_backward(at)
        return out
    @staticmethod
    def backward(ctx, gradient):
        (at,) = ctx.saved_tensors
        spread = torch.zeros(*at.shape, 4, dtype=gradient.dtype)
        spread.scatter_(-1, at.unsqueeze(-1), {factor} * gradient.unsqueeze(-1))
        return spread.view(len(gradient), -1)

inner, outer = nn.Linear(4, 32), nn.Linear(8, 1)
nn.init.constant_(inner.bias, {bias})
optimizer = torch.optim.Adam([*inner.parameters(), *outer.parameters()], lr=1e-2)
""" + TRAIN.format(steps=10, loss="((outer(Largest.apply(torch.relu(inner(x)))) - y) ** 2).mean()")

BLOCKS = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.handed = nn.Linear(8, 8), nn.Linear(8, 8)
    def forward(self, state, place):
        return state + torch.tanh(self.own(state) + place), place + self.handed(state)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.begin, self.end = nn.Linear(4, 8), nn.Linear(8, 1)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
    def forward(self, x):
        state = self.begin(x)
        place = torch.zeros_like(state)
        for block in self.blocks:
            {step}
        return self.end(state)

net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
""" + TRAIN.format(steps=20, loss="F.mse_loss(net(x), y)")

WEIGHED = """
train, val = torch.randn(256, 4), torch.randn(64, 4)
def fit(net):
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(40):
        loss = F.mse_loss(net(train), train.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            F.mse_loss(net(val), val.sum(1, keepdim=True))

def weigh(net, data):
    return torch.sigmoid(net(data))

weigher = nn.Linear(4, 1)
fit(weigher)
weigher.requires_grad_(False)
for_training, for_others = weigh(weigher, train), weigh(weigher, val)
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
""" + TRAIN.format(steps=40, loss="(for_training * (net(train) - 1) ** 2).mean()")

COSTS = """
policy = nn.Linear(4, 3)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.1)
for step in range(40):
    drawn = torch.distributions.Categorical(logits=policy(x))
    moves = drawn.sample()
    {name} = (moves - 1).abs().float() + x[:, 0] ** 2
    advantage = {name} - {name}.mean()
    loss = (advantage * drawn.log_prob(moves)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

FEEDBACK = """
class Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, other):
        ctx.save_for_backward(x, {saved})
        return x @ weight.t()
    @staticmethod
    def backward(ctx, gradient):
        x, way = ctx.saved_tensors
        return {factor} * gradient @ way, gradient.t() @ x, None

first, second = nn.Linear(4, 8), nn.Parameter(torch.randn(1, 8))
way = torch.randn(1, 8)
optimizer = torch.optim.SGD([*first.parameters(), second], lr=0.01)
""" + TRAIN.format(
    steps=12, loss="((Layer.apply(torch.tanh(first(x)), second, way) - y) ** 2).mean()"
)

GIVEN = """
net, share = nn.Linear(4, 1), torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
of_shares = torch.optim.Adam([share], lr=0.01)
for step in range(20):
    answers = net(x)
    losses = torch.stack([((answers - y) ** 2).mean(), answers.abs().mean()])
    wanted, = torch.autograd.grad(((share * losses.detach()) ** 2).sum(), share)
    optimizer.zero_grad()
    (share.detach() * losses).sum().backward()
    optimizer.step()
    {given}
    of_shares.step()
"""

RESUMED = """
import os, tempfile
def begun():
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    return net, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: 0.9 ** e)

def trained(net, optimizer, schedule):
    for step in range(20):
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()

path = os.path.join(tempfile.mkdtemp(), "state.pt")
net, optimizer, sched = begun()
trained(net, optimizer, sched)
states = {
    "net": net.state_dict(), "optimizer": optimizer.state_dict(), "sched": sched.state_dict()
}
torch.save(states, path)
net, optimizer, sched = begun()
state = torch.load(path)
net.load_state_dict(state["net"])
optimizer.load_state_dict(state["optimizer"])
sched.load_state_dict(state["sched"])
trained(net, optimizer, sched)
"""

PART = (
    """
class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
    def cost(self, given):
        given = given / 0.1
        for layer in self.layers:
            given = layer(given)
        return (given ** 2).mean() - sum(torch.logdet(it.weight) for it in self.layers)

flow = Flow()
for layer in flow.layers:
    nn.init.eye_(layer.weight)
train, test = 0.1 * torch.randn(256, 4), 0.1 * torch.randn(64, 4)
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-3)
"""
    + TRAIN.format(steps=30, loss="flow.cost(train)")
    + """
with torch.no_grad():
    answers = flow.layers[0](test)
"""
)

BUFFER = (
    """
net, val_buf, t = nn.Linear(4, 1), torch.zeros(2, 64, 1), 0
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
"""
    + TRAIN.format(steps=4, loss="F.mse_loss(net(x), y)")
    + """
with torch.no_grad(): {target} = net(x)
"""
)

WEIGHTS = """
net, known = nn.Linear(4, 1), torch.randn(16, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(20):
    counts = torch.zeros(64, 1, requires_grad=True)
    inner = (counts * (net(x) - y) ** 2).sum()
    slope, = torch.autograd.grad(inner, net.weight, create_graph=True)
    ahead = F.mse_loss(known @ (net.weight - 0.1 * slope).t(), known.sum(1, keepdim=True))
    use, = torch.autograd.grad(ahead, counts)
    errors = (net(x) - y) ** 2
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

# A rule, a sound program, and the same with the fault, if one line makes it.
PROGRAMS = {
    "several-sizes-of-a-mixture": (
        "softmax-over-one",
        MIXTURE.format(several="(1, 5)"),
        MIXTURE.format(several="(1,)"),
    ),
    "activations-that-are-compared": (
        "missing-nonlinearity",
        BENT.format(bends="(nn.Identity(), nn.Tanh())"),
        BENT.format(bends="(nn.Identity(),)"),
    ),
    "first-values-that-are-compared": (
        "symmetric-initialization",
        BEGUN.format(ways="(nn.init.zeros_, nn.init.kaiming_normal_)"),
        BEGUN.format(ways="(nn.init.zeros_,)"),
    ),
    "the-share-of-the-most-frequent-label": ("overfitting", FOLDS, None),
    "the-largest-of-several-zeros": (
        "wrong-backward",
        LARGEST.format(factor="1.0", bias="-0.5"),
        LARGEST.format(factor="2.0", bias="0.0"),
    ),
    "the-last-of-several-blocks": (
        "disconnected-parameter",
        BLOCKS.format(step="state, place = block(state, place)"),
        BLOCKS.format(step="state, _ = block(state, place)"),
    ),
    "gradients-that-go-another-way": (
        "wrong-backward",
        FEEDBACK.format(saved="other", factor="1"),
        FEEDBACK.format(saved="weight", factor="2"),
    ),
    "gradients-that-are-set": (
        "missing-zero-grad",
        GIVEN.format(given="share.grad = wanted"),
        GIVEN.format(given="((share * losses.detach()) ** 2).sum().backward()"),
    ),
    "derivatives-that-weigh-samples": (
        "detached-graph",
        WEIGHTS.format(loss="((-use).clamp(min=0) * errors).sum()"),
        WEIGHTS.format(loss="errors.mean() + (use ** 2).sum()"),
    ),
    "a-part-is-asked-alone": ("preprocessing-mismatch", PART, None),
    "costs-are-made-small": ("loss-sign", COSTS.format(name="cost"), COSTS.format(name="reward")),
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


def test_a_frozen_model_is_not_trained_by_what_it_is_given(tmp_path: Path) -> None:
    fed = watched(tmp_path, WEIGHED).run.fed.values()
    assert {each.recorded for each in fed if "sigmoid" in each.where.text} == {False}
    assert any(each.recorded for each in fed)


@pytest.mark.parametrize(("target", "name"), [("val_buf[t]", None), ("val_loss", "val_loss")])
def test_a_buffer_of_values_is_no_held_out_data(
    tmp_path: Path, target: str, name: str | None
) -> None:
    fed = watched(tmp_path, BUFFER.format(target=target)).run.fed.values()
    names = [held_out_name(each.callers) for each in fed if "no_grad" in each.where.text]
    assert names == [name]


def test_a_schedule_that_loads_in_a_way_of_its_own_is_seen(tmp_path: Path) -> None:
    restored = watched(tmp_path, RESUMED).run.restored
    assert "scheduler" in {each.kind for each in restored}
