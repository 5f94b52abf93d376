import torch
import torch.nn.functional as F

torch.manual_seed(10)

n, d, hidden, classes = 300, 20, 64, 4
x = torch.randn(n, d)
labels = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()

W1 = torch.rand(d, hidden, requires_grad=True)  # expect: bad-initialization
b1 = torch.zeros(hidden, requires_grad=True)
W2 = torch.rand(hidden, hidden, requires_grad=True)  # expect: bad-initialization
b2 = torch.zeros(hidden, requires_grad=True)
W3 = torch.rand(hidden, classes, requires_grad=True)  # expect: bad-initialization
b3 = torch.zeros(classes, requires_grad=True)
params = [W1, b1, W2, b2, W3, b3]


def forward(inputs):
    h = F.relu(inputs @ W1 + b1)
    h = F.relu(h @ W2 + b2)
    return h @ W3 + b3


optimizer = torch.optim.Adam(params, lr=0.003)
for epoch in range(100):
    optimizer.zero_grad()
    loss = F.cross_entropy(forward(x), labels)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch:3d} loss {loss.item():.4f}")
print("accuracy", (forward(x).argmax(1) == labels).float().mean().item())
