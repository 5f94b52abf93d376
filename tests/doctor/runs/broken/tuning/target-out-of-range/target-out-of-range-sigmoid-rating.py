import torch
import torch.nn as nn

torch.manual_seed(22)


class RatingModel(nn.Module):
    """Predicts a movie rating from user and movie ids."""

    def __init__(self, users=40, movies=30, dim=8):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.movie = nn.Embedding(movies, dim)
        self.fc = nn.Linear(2 * dim, 1)

    def forward(self, u, m):
        both = torch.cat([self.user(u), self.movie(m)], dim=1)
        return torch.sigmoid(self.fc(both)).squeeze(1)  # expect: target-out-of-range


users = torch.randint(0, 40, (600,))
movies = torch.randint(0, 30, (600,))
taste, quality = torch.rand(40), torch.rand(30)
ratings = 1 + 2 * taste[users] + 2 * quality[movies]

model = RatingModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
criterion = nn.MSELoss()
for epoch in range(120):
    optimizer.zero_grad()
    loss = criterion(model(users, movies), ratings)  # expect: target-out-of-range
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
print(f"final: {loss.item():.4f}")
