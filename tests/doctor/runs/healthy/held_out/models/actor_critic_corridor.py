import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
SIZE, GAMMA = 5, 0.95


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(SIZE, 32)
        self.action_head = nn.Linear(32, 2)
        self.value_head = nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.affine(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x).squeeze(-1)


model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
states = torch.eye(SIZE)
lengths = []
for episode in range(60):
    position, log_probs, values, rewards = 0, [], [], []
    for _ in range(20):
        probs, value = model(states[position])
        action = int(torch.multinomial(probs, 1))
        log_probs.append(torch.log(probs[action]))
        values.append(value)
        position = max(0, position + (1 if action else -1))
        done = position == SIZE - 1
        rewards.append(1.0 if done else -0.05)
        if done:
            break
    returns, R = [], 0.0
    for r in reversed(rewards):
        R = r + GAMMA * R
        returns.insert(0, R)
    returns, values = torch.tensor(returns), torch.stack(values)
    advantage = returns - values.detach()
    loss = -(torch.stack(log_probs) * advantage).mean() + F.smooth_l1_loss(values, returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lengths.append(len(rewards))
    if episode % 10 == 9:
        print(f"episode {episode + 1}: mean length {sum(lengths[-10:]) / 10}")
