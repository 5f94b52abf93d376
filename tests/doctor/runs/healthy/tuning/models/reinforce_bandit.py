import torch
import torch.nn as nn

torch.manual_seed(0)
n_states, n_actions = 4, 3
best = torch.tensor([2, 0, 1, 2])
policy = nn.Sequential(nn.Linear(n_states, 16), nn.Tanh(), nn.Linear(16, n_actions))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
baseline = 0.0

for episode in range(250):
    state = torch.randint(0, n_states, (16,))
    logits = policy(nn.functional.one_hot(state, n_states).float())
    log_probs = torch.log_softmax(logits, dim=-1)
    action = torch.multinomial(log_probs.exp(), 1).squeeze(1)
    reward = (action == best[state]).float() + 0.3 * torch.randn(16)
    chosen = log_probs.gather(1, action.unsqueeze(1)).squeeze(1)
    loss = -(chosen * (reward - baseline)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    if episode % 50 == 0:
        print(f"episode {episode} reward {baseline:.3f}")
print("greedy:", policy(torch.eye(n_states)).argmax(1).tolist(), "best:", best.tolist())
