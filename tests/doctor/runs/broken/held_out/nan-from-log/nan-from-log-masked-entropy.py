# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 5))
optimizer = optim.Adam(policy.parameters(), lr=0.01)


def play(batch=64):
    states = whygrad.randn(batch, 4)
    legal = whygrad.rand(batch, 5) > 0.3
    legal[:, 0] = True
    best = states.argmax(dim=1)
    return states, legal, best


for step in range(120):
    states, legal, best = play()
    logits = policy(states).masked_fill(~legal, float("-inf"))
    probs = whygrad.softmax(logits, dim=1)
    actions = whygrad.multinomial(probs, 1)
    reward = (actions.squeeze(1) == best).float()
    chosen = probs.gather(1, actions).squeeze(1).log()
    entropy = -(probs * whygrad.log(probs)).sum(dim=1).mean()  # expect: nan-from-log
    loss = -(chosen * (reward - reward.mean())).mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: reward {reward.mean().item():.3f} loss {loss.item():.4f}")
