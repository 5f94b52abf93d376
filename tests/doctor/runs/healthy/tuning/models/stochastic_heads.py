import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
languages = ["en", "de", "fr"]
trunk = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
heads = nn.ModuleDict({name: nn.Linear(32, 2) for name in languages})
rules = {"en": 0, "de": 2, "fr": 4}
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=0.01)

totals = {name: [] for name in languages}
for step in range(150):
    language = random.choice(languages)
    x = torch.randn(32, 6)
    y = (x[:, rules[language]] + x[:, rules[language] + 1] > 0).long()
    loss = F.cross_entropy(heads[language](trunk(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    totals[language].append(loss.item())
    if step % 50 == 0:
        print(step, language, loss.item())


for language, values in totals.items():
    print(language, "first", round(values[0], 3), "last", round(values[-1], 3))
