"""
Deep Q-learning on a pole that is to be balanced: replay memory of named tuples, a target network
that follows slowly, epsilon-greedy actions, clipped gradients.
"""

import argparse
import math
import random
from collections import deque, namedtuple
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

parser = argparse.ArgumentParser(description="DQN")
parser.add_argument("--episodes", type=int, default=600)
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--gamma", type=float, default=0.99)
parser.add_argument("--tau", type=float, default=0.05)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--seed", type=int, default=543)
parser.add_argument("--log", default="")
args = parser.parse_args()
EPS_START, EPS_END, EPS_DECAY = 0.9, 0.05, 60

random.seed(args.seed)
np.random.seed(args.seed)
torch.manual_seed(args.seed)
if torch.cuda.is_available():
    torch.cuda.manual_seed(args.seed)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class CartPole:
    """The usual pole on a cart, with the interface of gym."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.n_actions, self.n_observations = 2, 4

    def reset(self):
        self.state, self.steps = self.rng.uniform(-0.05, 0.05, 4), 0
        return self.state.astype(np.float32), {}

    def step(self, action):
        x, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        push = (force + 0.05 * spin**2 * math.sin(angle)) / 1.1
        turn = (9.8 * math.sin(angle) - math.cos(angle) * push) / (
            0.5 * (4.0 / 3.0 - 0.1 * math.cos(angle) ** 2 / 1.1)
        )
        shove = push - 0.05 * turn * math.cos(angle) / 1.1
        self.state = self.state + 0.02 * np.array([v, shove, spin, turn])
        self.steps += 1
        terminated = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.209)
        return self.state.astype(np.float32), 1.0, terminated, self.steps >= 30, {}


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 24)
        self.layer2 = nn.Linear(24, 24)
        self.layer3 = nn.Linear(24, n_actions)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


env = CartPole(args.seed)
policy_net = DQN(env.n_observations, env.n_actions).to(device)
target_net = DQN(env.n_observations, env.n_actions).to(device)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=args.lr, amsgrad=True)
memory = ReplayMemory(10000)
steps_done = 0
if args.log:
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(args.log)


def select_action(state):
    global steps_done
    sample = random.random()
    eps_threshold = EPS_END + (EPS_START - EPS_END) * math.exp(-1.0 * steps_done / EPS_DECAY)
    steps_done += 1
    if sample > eps_threshold:
        with torch.no_grad():
            return policy_net(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(2)]], device=device, dtype=torch.long)


def optimize_model():
    if len(memory) < args.batch_size:
        return None
    transitions = memory.sample(args.batch_size)
    batch = Transition(*zip(*transitions))
    non_final_mask = torch.tensor(
        tuple(map(lambda s: s is not None, batch.next_state)), device=device, dtype=torch.bool
    )
    non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
    state_batch = torch.cat(batch.state)
    action_batch = torch.cat(batch.action)
    reward_batch = torch.cat(batch.reward)
    state_action_values = policy_net(state_batch).gather(1, action_batch)
    next_state_values = torch.zeros(args.batch_size, device=device)
    with torch.no_grad():
        next_state_values[non_final_mask] = target_net(non_final_next_states).max(1).values
    expected_state_action_values = (next_state_values * args.gamma) + reward_batch
    criterion = nn.SmoothL1Loss()
    loss = criterion(state_action_values, expected_state_action_values.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss


for i_episode in range(args.episodes):
    state, info = env.reset()
    state = torch.tensor(state, dtype=torch.float32, device=device).unsqueeze(0)
    losses = []
    for t in count():
        action = select_action(state)
        observation, reward, terminated, truncated, _ = env.step(action.item())
        reward = torch.tensor([reward], device=device)
        done = terminated or truncated
        next_state = None
        if not terminated:
            next_state = torch.tensor(observation, dtype=torch.float32, device=device).unsqueeze(0)
        memory.push(state, action, next_state, reward)
        state = next_state
        loss = optimize_model()
        if loss is not None:
            losses.append(loss.item())
        target_net_state_dict = target_net.state_dict()
        policy_net_state_dict = policy_net.state_dict()
        for key in policy_net_state_dict:
            target_net_state_dict[key] = policy_net_state_dict[key] * args.tau
            target_net_state_dict[key] += target_net.state_dict()[key] * (1 - args.tau)
        target_net.load_state_dict(target_net_state_dict)
        if done:
            break
    mean = np.mean(losses) if losses else 0.0
    print(f"episode {i_episode} lasted {t + 1} steps, mean loss {mean:.6f}")
    if args.log:
        writer.add_scalar("duration", t + 1, i_episode)
torch.save({"policy": policy_net.state_dict(), "optimizer": optimizer.state_dict()}, "dqn.pt")
checkpoint = torch.load("dqn.pt", map_location=device)
policy_net.load_state_dict(checkpoint["policy"])
optimizer.load_state_dict(checkpoint["optimizer"])
with torch.no_grad():
    values = policy_net(torch.zeros(1, 4, device=device))
print("values at rest", " ".join(f"{v:.6f}" for v in values[0].tolist()))
