import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(33)
x = torch.randn(400, 8)
y = (x @ torch.randn(8, 4) + 0.5 * torch.sin(3 * x[:, :4])).argmax(1)


def fit(net, loss_fn, steps, lr):
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for step in range(steps):
        loss = loss_fn(net(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"  {step:3d} {loss.item():.4f}")
    return (net(x).argmax(1) == y).float().mean().item()


teacher = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 4))
print("teacher:", fit(teacher, lambda out: F.cross_entropy(out, y), 100, 0.01))

T = 2.0
teacher.eval()
with torch.no_grad():
    soft = F.softmax(teacher(x) / T, dim=1)


def distill(out):
    kd = F.kl_div(F.log_softmax(out / T, dim=1), soft, reduction="batchmean") * T * T
    return 0.7 * kd + 0.3 * F.cross_entropy(out, y)


student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
print("student:", fit(student, distill, 100, 0.02))
