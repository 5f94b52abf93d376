import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
USERS, ITEMS = 40, 60
likes = (torch.randn(USERS, 4) @ torch.randn(4, ITEMS)) > 0


class Taste(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(USERS, 8)
        self.items = nn.Embedding(ITEMS, 8)

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).sum(dim=1)


model = Taste()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(80):
    user = torch.randint(0, USERS, (64,))
    liked = torch.multinomial(likes[user].float(), 1).squeeze(1)
    other = torch.multinomial((~likes[user]).float(), 1).squeeze(1)
    pos_score, neg_score = model(user, liked), model(user, other)
    loss = -F.logsigmoid(neg_score - pos_score).mean()  # expect: swapped-pair
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
