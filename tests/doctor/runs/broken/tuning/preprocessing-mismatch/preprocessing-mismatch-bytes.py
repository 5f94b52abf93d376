import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
images = torch.randint(0, 256, (400, 64)).float()
labels = (images[:, :32].mean(1) > images[:, 32:].mean(1)).long()
train_x = images[:320] / 255
test_x = images[320:]  # expect: preprocessing-mismatch
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(8):
    for i in range(0, 320, 40):
        loss = F.cross_entropy(net(train_x[i : i + 40]), labels[i : i + 40])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        out = net(test_x)  # expect: preprocessing-mismatch
        print(epoch, loss.item(), (out.argmax(1) == labels[320:]).float().mean().item())
