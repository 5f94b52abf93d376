# engine: whygrad
import whygrad
from whygrad import nn, optim
from whygrad.nn import functional as F


class ConvNet(nn.Module):
    def __init__(self, depth=5):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv2d(1 if i == 0 else 6, 6, 3, padding=1) for i in range(depth)
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(6) for _ in range(depth))
        self.fc = nn.Linear(6 * 6 * 6, 2)

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x)))
        return self.fc(x.flatten(1))


def load(state=None):
    model = ConvNet()
    if state is not None:
        model.load_state_dict(state)
    model.eval()  # expect: wrong-mode
    return model


whygrad.manual_seed(0)
labels = whygrad.arange(160) % 2
images = whygrad.randn(160, 1, 6, 6)
images[:, 0, 2:4, 2:4] += labels.reshape(-1, 1, 1).float()

model = load()
optimizer = optim.SGD(model.parameters(), lr=0.05)
for epoch in range(12):
    total = 0.0
    for idx in whygrad.randperm(160).split(20):
        loss = F.cross_entropy(model(images[idx]), labels[idx])  # expect: wrong-mode
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {total / 8:.4f}")
