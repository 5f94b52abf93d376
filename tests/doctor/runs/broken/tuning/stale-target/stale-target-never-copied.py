import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
N = 7  # cells of a corridor; the last one pays


def step(state, action):
    after = (state + 2 * action - 1).clamp(0, N - 1)
    done = after == N - 1
    return after, done.float(), done.float()


def one_hot(state):
    return nn.functional.one_hot(state, N).float()


q_net = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(q_net)  # expect: stale-target
optimizer = torch.optim.Adam(q_net.parameters(), lr=5e-3)

for update in range(200):
    state = torch.randint(0, N - 1, (64,))
    action = torch.randint(0, 2, (64,))
    after, reward, done = step(state, action)
    value = q_net(one_hot(state)).gather(1, action[:, None]).squeeze(1)
    with torch.no_grad():
        best = target_net(one_hot(after)).max(dim=1).values  # expect: stale-target
        wanted = reward + 0.9 * (1 - done) * best
    loss = nn.functional.smooth_l1_loss(value, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # expect: stale-target
    if update % 50 == 49:
        print(f"update {update + 1}: loss {loss.item():.4f}")
print(q_net(one_hot(torch.arange(N))).max(dim=1).values)
