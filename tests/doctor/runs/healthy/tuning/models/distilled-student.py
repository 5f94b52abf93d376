import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 5)).eval()
student = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 5))
opt = torch.optim.Adam(student.parameters(), 1e-3)
T = 4.0
for _ in range(150):
    x = torch.randn(64, 10)
    with torch.no_grad():
        soft = F.softmax(teacher(x) / T, -1)
    loss = F.cross_entropy(student(x) / T, soft)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
