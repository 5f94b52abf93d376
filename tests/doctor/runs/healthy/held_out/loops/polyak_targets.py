import torch
import torch.nn as nn

torch.manual_seed(16)
# deterministic policy gradient for one step: the best action is a function of the state
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
critic_target = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
critic_target.load_state_dict(critic.state_dict())
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=2e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=5e-3)
rewards = []

for it in range(200):
    state = torch.rand(64, 3) * 2 - 1
    with torch.no_grad():
        action = (actor(state) + 0.3 * torch.randn(64, 1)).clamp(-1, 1)
    reward = 1 - (action - 0.8 * state[:, :1]).pow(2)
    with torch.no_grad():
        bootstrap = critic_target(torch.cat([state, actor(state)], 1))
        target = reward + 0.1 * bootstrap

    critic_loss = nn.functional.mse_loss(critic(torch.cat([state, action], 1)), target)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    actor_loss = -critic(torch.cat([state, actor(state)], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()

    for t, p in zip(critic_target.parameters(), critic.parameters()):
        t.data.copy_(0.98 * t.data + 0.02 * p.data)
    rewards.append(reward.mean().item())
    if it % 40 == 39:
        recent = sum(rewards[-20:]) / 20
        print(f"{it + 1}: critic {critic_loss.item():.4f} reward {recent:.3f}")
