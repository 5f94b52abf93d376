import torch
import torch.nn.functional as F

torch.manual_seed(0)


def init(n_in, n_out):
    w = torch.randn(n_out, n_in) / n_in**0.5
    return w.requires_grad_(), torch.zeros(n_out, requires_grad=True)


def net(x, p):
    x = torch.tanh(F.linear(x, p[0], p[1]))
    x = torch.tanh(F.linear(x, p[2], p[3]))
    return F.linear(x, p[4], p[5])


def task():
    amplitude, phase = 0.5 + torch.rand(1), 3.14 * torch.rand(1)
    return lambda x: amplitude * torch.sin(x + phase)


theta = [*init(1, 32), *init(32, 32), *init(32, 1)]
meta_opt = torch.optim.Adam(theta, lr=5e-3)
inner_lr = 0.05
log = []

for it in range(100):
    meta_loss = 0.0
    for _ in range(4):
        f = task()
        support, query = torch.rand(10, 1) * 6 - 3, torch.rand(10, 1) * 6 - 3
        fast = theta
        for _ in range(2):
            inner = F.mse_loss(net(support, fast), f(support))
            grads = torch.autograd.grad(inner, fast, create_graph=True)
            fast = [w - inner_lr * g for w, g in zip(fast, grads)]
        meta_loss = meta_loss + F.mse_loss(net(query, fast), f(query)) / 4
    meta_opt.zero_grad()
    meta_loss.backward()
    meta_opt.step()
    log.append(meta_loss.item())
    if it % 20 == 19:
        print(f"{it + 1}: {sum(log[-20:]) / 20:.4f}")
