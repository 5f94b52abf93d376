# engine: torch
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
n_users, n_items, dim = 60, 200, 8
true_u, true_i = torch.randn(n_users, dim), torch.randn(n_items, dim)

users = nn.Embedding(n_users, dim, sparse=True)
items = nn.Embedding(n_items, dim, sparse=True)
optimizer = torch.optim.SparseAdam([*users.parameters(), *items.parameters()], lr=0.03)

for step in range(300):
    u = torch.randint(0, n_users, (128,))
    i = torch.randint(0, n_items, (128,))
    liked = ((true_u[u] * true_i[i]).sum(1) > 0).float()
    score = (users(u) * items(i)).sum(1)
    loss = F.binary_cross_entropy_with_logits(score, liked)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        accuracy = ((score > 0).float() == liked).float().mean()
        print(f"{step}: loss {loss.item():.3f} acc {accuracy.item():.2f}")
