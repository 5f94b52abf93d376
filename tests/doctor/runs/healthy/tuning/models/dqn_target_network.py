import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
torch.manual_seed(1)
N = 6  # a corridor: the reward is at its right end


def move(s, a):
    s2 = max(0, min(N - 1, s + (1 if a == 1 else -1)))
    return s2, float(s2 == N - 1), s2 == N - 1


q_net = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-2)
eye, memory, state = torch.eye(N), [], 0

for step in range(500):
    a = random.randrange(2)
    nxt, reward, done = move(state, a)
    memory.append((state, a, reward, nxt, done))
    state = 0 if done else nxt
    if len(memory) < 64:
        continue
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    q = q_net(eye[list(s)]).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best_next = target_net(eye[list(s2)]).max(dim=1)[0]
        target = torch.tensor(r) + 0.9 * best_next * (1 - torch.tensor(d).float())
    loss = F.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        target_net.load_state_dict(q_net.state_dict())
    if step % 100 == 0:
        print(f"step {step} td loss {loss.item():.5f}")

print("actions:", q_net(eye).argmax(1).tolist())
