# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(2)
items = whygrad.randn(100, 5)
quality = items @ whygrad.tensor([3.0, -2.0, 1.0, 0.0, 0.5])

scorer = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = optim.Adam(scorer.parameters(), lr=0.02)


def pair_loss(better, worse):
    margin = 40 * whygrad.tanh(scorer(better) - scorer(worse))
    return -whygrad.log(1 - whygrad.sigmoid(-margin)).mean()  # expect: unstable-loss


for step in range(200):
    i = whygrad.randint(0, 100, (64,))
    j = whygrad.randint(0, 100, (64,))
    first = (quality[i] > quality[j]).unsqueeze(1)
    better = whygrad.where(first, items[i], items[j])
    worse = whygrad.where(first, items[j], items[i])
    loss = pair_loss(better, worse)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step}: {loss.item():.4f}")
