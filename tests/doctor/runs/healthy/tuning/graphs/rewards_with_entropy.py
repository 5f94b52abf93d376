import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

pol = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 3))
opt = torch.optim.Adam(pol.parameters(), lr=1e-2)
for _it in range(120):
    i = torch.randint(0, 256, (64,))
    dist = torch.distributions.Categorical(logits=pol(X[i]))
    a = dist.sample()
    reward = (a == Y[i]).float() - 0.33
    policy_loss = -(dist.log_prob(a) * reward).mean()
    entropy = dist.entropy().mean()
    loss = policy_loss - 0.05 * entropy
    opt.zero_grad()
    loss.backward()
    opt.step()
