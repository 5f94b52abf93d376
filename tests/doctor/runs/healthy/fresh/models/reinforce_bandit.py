import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 24)
        self.affine2 = nn.Linear(24, 3)

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=1)


best_arm = torch.tensor([0, 2, 1, 0])
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
running_reward = 0.0

for episode in range(150):
    context = torch.randint(0, 4, (16,))
    probs = policy(F.one_hot(context, 4).float())
    action = torch.multinomial(probs, 1).squeeze(1)
    reward = (action == best_arm[context]).float() + 0.3 * torch.randn(16)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-8)
    log_prob = torch.log(probs.gather(1, action.unsqueeze(1)).squeeze(1))
    loss = -(log_prob * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running_reward = 0.05 * reward.mean().item() + 0.95 * running_reward
    if episode % 15 == 0:
        print(f"Episode {episode}\tAverage reward: {running_reward:.2f}")
