import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)


def init_weights(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.constant_(module.bias, -6.0)  # expect: dead-relu


model = nn.Sequential(
    nn.Linear(5, 32),
    nn.ReLU(),  # expect: dead-relu
    nn.Linear(32, 32),
    nn.ReLU(),  # expect: dead-relu
    nn.Linear(32, 3),
)
model.apply(init_weights)

features = torch.rand(300, 5) * 2 - 1
labels = (features[:, 0] > 0).long() + (features[:, 1] > 0.2).long()

optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
for step in range(200):
    loss = F.cross_entropy(model(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"{step}: {loss.item():.4f}")
print(f"final: {loss.item():.4f}")
