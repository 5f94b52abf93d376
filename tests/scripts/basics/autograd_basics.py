"""What backward() does: leaves, accumulation, detach, no_grad, hooks, second order."""

import torch

x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
loss = (x * w + b) ** 2
loss.backward()
print(loss.item(), x.grad, w.grad, b.grad)

(x * w).backward()
print("added up:", x.grad.item(), w.grad.item(), b.grad.item())
x.grad.zero_()
w.grad = None
print(x.grad, w.grad)

v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = v**2
y.backward(gradient=torch.tensor([1.0, 0.1, 0.01]))
print(v.grad, y.requires_grad, y.is_leaf, v.is_leaf)

with torch.no_grad():
    z = v * 2
print(z.requires_grad, v.detach().requires_grad, (v * 2).requires_grad)

cube = (v**3).sum()
(first,) = torch.autograd.grad(cube, v, create_graph=True)
(second,) = torch.autograd.grad(first.sum(), v)
print(first.detach(), second)

jacobian = torch.autograd.functional.jacobian(
    lambda t: torch.stack([t.sum(), t.prod()]), v.detach()
)
hessian = torch.autograd.functional.hessian(lambda t: (t**3).sum(), v.detach())
print(jacobian, hessian)

seen = []
hidden = v * 2
hidden.register_hook(lambda gradient: seen.append(gradient.clone()))
hidden.retain_grad()
(hidden**2).sum().backward()
print(seen[0], hidden.grad)

again = (v * v).sum()
again.backward(retain_graph=True)
again.backward()
print(v.grad)
try:
    again.backward()
except RuntimeError as error:
    print("second time" in str(error))
try:
    v.add_(1)
except RuntimeError as error:
    print("leaf" in str(error))
