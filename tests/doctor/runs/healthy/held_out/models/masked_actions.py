import torch
import torch.nn as nn


class Policy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU(), nn.Linear(32, n_act))

    def forward(self, obs, legal):
        logits = self.body(obs)
        return logits.masked_fill(~legal, -torch.inf).log_softmax(dim=-1)


torch.manual_seed(14)
n_act = 5
policy = Policy(8, n_act)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
preference = torch.randn(8, n_act)

for update in range(200):
    obs = torch.randn(64, 8)
    legal = torch.rand(64, n_act) > 0.4
    legal[:, 0] = True
    value = obs @ preference
    expert = value.masked_fill(~legal, float("-inf")).argmax(dim=1)
    log_prob = policy(obs, legal)
    loss = nn.functional.nll_loss(log_prob, expert)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 40 == 0:
        agree = (log_prob.argmax(1) == expert).float().mean().item()
        print(f"update {update} nll {loss.item():.3f} agreement {agree:.2f}")
