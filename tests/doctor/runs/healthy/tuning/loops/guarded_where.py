# engine: whygrad
import whygrad
import whygrad.nn as nn

whygrad.manual_seed(2)


class Prototypes(nn.Module):
    """Distances to points that start on some of the samples."""

    def __init__(self, points):
        super().__init__()
        self.points = nn.Parameter(points.clone())
        self.out = nn.Linear(len(points), 1)

    def forward(self, x):
        squared = ((x.unsqueeze(1) - self.points) ** 2).sum(dim=2)
        apart = squared > 0
        safe = whygrad.where(apart, squared, whygrad.ones_like(squared))
        distance = whygrad.where(apart, safe.sqrt(), whygrad.zeros_like(squared))
        return self.out(distance)


x = whygrad.rand(150, 2) * 2 - 1
y = (x[:, :1] * x[:, 1:]) + x[:, :1] ** 2
model = Prototypes(x[:16])
opt = whygrad.optim.Adam(model.parameters(), lr=0.02)
for i in range(200):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 40 == 0:
        print(i, loss.item())
print("end", loss.item())
