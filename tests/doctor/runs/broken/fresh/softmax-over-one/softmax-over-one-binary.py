# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(0)


class BinaryClassifier(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.hidden = nn.Linear(n_features, 16)
        self.output = nn.Linear(16, 1)  # expect: softmax-over-one
        self.relu = nn.ReLU()
        self.softmax = nn.Softmax(dim=1)  # expect: softmax-over-one

    def forward(self, x):
        x = self.relu(self.hidden(x))
        return self.softmax(self.output(x))  # expect: softmax-over-one


x = whygrad.randn(200, 6)
y = (x[:, 0] - x[:, 1] > 0).float().unsqueeze(1)

model = BinaryClassifier(6)
criterion = nn.BCELoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)

for epoch in range(50):
    optimizer.zero_grad()
    prob = model(x)
    loss = criterion(prob, y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        acc = ((prob > 0.5).float() == y).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.3f}")
