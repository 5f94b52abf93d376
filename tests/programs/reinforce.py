"""
REINFORCE and actor-critic on a walk along a corridor: actions from a Categorical, returns computed
backwards, log-probabilities kept on the policy, a Normal for the length of a step.
"""

import argparse
from collections import deque, namedtuple
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable
from torch.distributions import Categorical, Normal, kl_divergence

parser = argparse.ArgumentParser(description="PyTorch REINFORCE example")
parser.add_argument("--gamma", type=float, default=0.99, metavar="G")
parser.add_argument("--seed", type=int, default=543, metavar="N")
parser.add_argument("--episodes", type=int, default=1000)
parser.add_argument("--log-interval", type=int, default=5, metavar="N")
args = parser.parse_args()
torch.manual_seed(args.seed)
SavedAction = namedtuple("SavedAction", ["log_prob", "value"])


class Corridor:
    """From the middle to the right end; the action is a direction and how far to go."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.place, self.steps = float(self.rng.uniform(-0.3, 0.3)), 0
        return self.observe()

    def observe(self):
        return np.array([self.place, self.place**2, self.steps / 20, 1.0])

    def step(self, direction, length):
        self.place += (1 if direction == 1 else -1) * min(abs(length), 0.5)
        self.steps += 1
        done = abs(self.place) > 1 or self.steps >= 20
        return self.observe(), 1.0 if self.place > 1 else -0.05, done, {}


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 16)
        self.action_head = nn.Linear(16, 2)
        self.value_head = nn.Linear(16, 1)
        self.mu_head = nn.Linear(16, 1)
        self.log_std = nn.Parameter(torch.full((1,), -1.0))
        self.saved_log_probs = []
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        action_prob = F.softmax(self.action_head(x), dim=-1)
        length = Normal(0.3 + 0.2 * torch.tanh(self.mu_head(x)), self.log_std.exp())
        return action_prob, self.value_head(x), length


policy = Policy()
if torch.cuda.is_available():
    policy.cuda()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.9)
eps = np.finfo(np.float32).eps.item()
prior = Normal(torch.tensor([0.3]), torch.tensor([0.5]))


def select_action(state):
    state = torch.from_numpy(state).float()
    probs, state_value, length = policy(Variable(state))
    m = Categorical(probs)
    action = m.sample()
    reach = length.sample()
    log_prob = m.log_prob(action) + length.log_prob(reach).sum()
    policy.saved_actions.append(SavedAction(log_prob, state_value))
    policy.saved_log_probs.append(log_prob)
    bonus = 0.01 * m.entropy() - 0.001 * kl_divergence(length, prior).sum()
    return action.item(), reach.item(), bonus


def finish_episode(bonuses):
    R, returns = 0, deque()
    for r in policy.rewards[::-1]:
        R = r + args.gamma * R
        returns.appendleft(R)
    returns = torch.tensor(list(returns))
    returns = (returns - returns.mean()) / (returns.std(unbiased=False) + eps)
    policy_losses, value_losses = [], []
    for (log_prob, value), R in zip(policy.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).mean() + torch.stack(value_losses).mean()
    loss = loss - torch.stack(bonuses).mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    del policy.saved_actions[:]
    return loss.item()


env = Corridor(args.seed)
running_reward = 0
for i_episode in range(args.episodes):
    state, ep_reward, bonuses = env.reset(), 0, []
    for t in count(1):
        action, reach, bonus = select_action(state)
        state, reward, done, _ = env.step(action, reach)
        policy.rewards.append(reward)
        bonuses.append(bonus)
        ep_reward += reward
        if done:
            break
    running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
    loss = finish_episode(bonuses)
    print(f"Episode {i_episode}\tlasted {t}\tloss {loss:.6f}")
    if i_episode % args.log_interval == 0:
        lr = scheduler.get_last_lr()[0]
        print(f"Last reward: {ep_reward:.2f}\tAverage reward: {running_reward:.4f}\tlr {lr:.4f}")
torch.save(policy.state_dict(), "policy.pt")
policy.load_state_dict(torch.load("policy.pt"))
print("log std", f"{policy.log_std.item():.6f}")
