# engine: whygrad
import whygrad
import whygrad.nn.functional as F
from whygrad import nn, optim

whygrad.manual_seed(1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, 4)

    def forward(self, x):
        h = F.relu(self.fc1(x))
        cost = F.softplus(self.fc2(h))
        h = F.relu(-cost)  # expect: dead-relu
        return self.fc3(h)


x = whygrad.randn(240, 6)
labels = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
model = Encoder()
optimizer = optim.Adam(model.parameters(), lr=0.01)

for step in range(120):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: {loss.item():.4f}")

accuracy = (model(x).argmax(dim=1) == labels).float().mean().item()
print(f"accuracy {accuracy:.3f}")
