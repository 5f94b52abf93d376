import torch
from torch import nn

torch.manual_seed(32)
num_classes = 10
x = torch.randn(500, 20)
y = (x @ torch.randn(20, num_classes)).argmax(dim=1)

net = nn.Sequential(
    nn.Linear(20, 64),
    nn.ReLU(),
    nn.Linear(64, num_classes),
    nn.Softmax(dim=-1),  # expect: double-softmax
)
loss_fn = nn.CrossEntropyLoss()  # expect: double-softmax
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)


def accuracy():
    with torch.no_grad():
        return (net(x).argmax(dim=1) == y).float().mean().item()


for epoch in range(12):
    for chunk in torch.randperm(500).split(50):
        optimizer.zero_grad()
        loss = loss_fn(net(x[chunk]), y[chunk])  # expect: double-softmax
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1:2d} | loss {loss.item():.4f} | accuracy {accuracy():.3f}")
