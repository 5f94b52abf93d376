# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(7)
codes = whygrad.randn(200, 3)
curves = 4.0 * codes @ whygrad.randn(3, 10)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3))
        self.decoder = nn.Sequential(
            nn.Linear(3, 16),
            nn.ReLU(),
            nn.Linear(16, 10),
            nn.Tanh(),  # expect: target-out-of-range
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


model = AutoEncoder()
optimizer = optim.Adam(model.parameters(), lr=0.01)
for epoch in range(150):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(curves), curves)  # expect: target-out-of-range
    loss.backward()
    optimizer.step()
    if epoch % 25 == 0:
        print(epoch, round(loss.item(), 4))
print("final", round(loss.item(), 4), "variance", round(curves.var().item(), 4))
