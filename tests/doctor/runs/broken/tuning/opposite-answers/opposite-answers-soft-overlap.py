import torch

torch.manual_seed(4)
features = torch.randn(300, 10)
tags = (features @ torch.randn(10, 6) > 1.0).float()

w1 = (torch.randn(10, 24) / 10**0.5).requires_grad_()
b1 = torch.zeros(24, requires_grad=True)
w2 = (torch.randn(24, 6) / 24**0.5).requires_grad_()
b2 = torch.zeros(6, requires_grad=True)
optimizer = torch.optim.SGD([w1, b1, w2, b2], lr=0.5, momentum=0.9)

for step in range(120):
    rows = torch.randint(0, 300, (50,))
    hidden = torch.tanh(features[rows] @ w1 + b1)
    given = (hidden @ w2 + b2).sigmoid()
    shared = (given * tags[rows]).sum()
    union = given.sum() + tags[rows].sum() - shared
    iou = shared / union  # expect: opposite-answers
    optimizer.zero_grad()
    iou.backward()  # expect: opposite-answers
    optimizer.step()
    if step % 20 == 0:
        print(step, iou.item())
