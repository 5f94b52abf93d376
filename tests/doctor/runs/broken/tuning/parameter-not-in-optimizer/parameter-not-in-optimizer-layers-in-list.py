import torch
import torch.nn as nn
import torch.nn.functional as F


class DeepNet(nn.Module):
    def __init__(self, n_in, hidden, depth):
        super().__init__()
        self.layers = []  # expect: parameter-not-in-optimizer
        for i in range(depth):
            self.layers.append(
                nn.Linear(n_in if i == 0 else hidden, hidden)
            )  # expect: parameter-not-in-optimizer
        self.out = nn.Linear(hidden, 3)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.out(x)


torch.manual_seed(1)
x = torch.rand(600, 2) * 4 - 2
y = (torch.floor(x[:, 0]) + torch.floor(x[:, 1])).long() % 3
model = DeepNet(2, 16, depth=3)
print(sum(p.numel() for p in model.parameters()), "parameters")

optimizer = torch.optim.AdamW(  # expect: parameter-not-in-optimizer
    model.parameters(), lr=0.01
)
for epoch in range(30):
    perm = torch.randperm(600)
    hits = 0
    for idx in perm.split(60):
        logits = model(x[idx])
        loss = F.cross_entropy(logits, y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (logits.argmax(1) == y[idx]).sum().item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {hits / 600:.3f}")
