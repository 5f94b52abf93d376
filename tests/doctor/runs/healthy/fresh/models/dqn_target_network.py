import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
random.seed(0)
SIZE, GAMMA = 6, 0.9


def step(s, a):
    s2 = max(0, min(SIZE - 1, s + (1 if a == 1 else -1)))
    done = s2 == SIZE - 1
    return s2, float(done), done


def one_hot(states):
    return F.one_hot(torch.tensor(states), SIZE).float()


q = nn.Sequential(nn.Linear(SIZE, 24), nn.ReLU(), nn.Linear(24, 2))
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=5e-3)
memory, s = [], 0

for t in range(250):
    a = random.randint(0, 1)
    s2, r, done = step(s, a)
    memory.append((s, a, r, s2, float(done)))
    s = 0 if done else s2
    if len(memory) < 32:
        continue
    bs, ba, br, bs2, bd = zip(*random.sample(memory, 32), strict=True)
    value = q(one_hot(bs)).gather(1, torch.tensor(ba).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = target(one_hot(bs2)).max(dim=1).values
        goal = torch.tensor(br) + GAMMA * best * (1 - torch.tensor(bd))
    loss = F.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if t % 25 == 0:
        target.load_state_dict(q.state_dict())
        print(f"{t}: td loss {loss.item():.5f}")
print("greedy:", q(one_hot(list(range(SIZE)))).argmax(dim=1).tolist())
