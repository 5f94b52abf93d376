"""Per-sample gradients, Jacobians and a learned step size with torch.func."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, hessian, jacrev, jvp, vmap

model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
with torch.no_grad():
    for number, parameter in enumerate(model.parameters()):
        parameter.copy_(torch.sin(torch.arange(parameter.numel()) + number).view_as(parameter))
x = torch.cos(torch.arange(12)).view(4, 3)
labels = torch.tensor([0, 1, 1, 0])
parameters = {name: p.detach() for name, p in model.named_parameters()}


def loss(parameters, sample, label):
    logits = functional_call(model, parameters, (sample.unsqueeze(0),))
    return F.cross_entropy(logits, label.unsqueeze(0))


each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, labels)
for name, gradient in each.items():
    print(f"{name:9} {list(gradient.shape)} {gradient.flatten(1).norm(dim=1).tolist()[0]:.5f}")
model.zero_grad()
F.cross_entropy(model(x), labels).backward()
print(torch.allclose(each["0.weight"].mean(0), model[0].weight.grad, atol=1e-6))

jacobian = vmap(jacrev(model))(x)
print(jacobian.shape, jacobian[0].detach())
curvature = hessian(lambda v: (model(v) ** 2).sum())(x[0])
print(curvature.detach(), torch.allclose(curvature, curvature.T, atol=1e-5))
value, tangent = jvp(model, (x[0],), (torch.ones(3),))
print(value.detach(), tangent.detach())

rate = torch.tensor(0.1, requires_grad=True)
weights = {name: p.clone().requires_grad_() for name, p in parameters.items()}
inner = vmap(loss, in_dims=(None, 0, 0))(weights, x, labels).mean()
gradients = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
stepped = {name: p - rate * g for (name, p), g in zip(weights.items(), gradients)}
outer = vmap(loss, in_dims=(None, 0, 0))(stepped, x, labels).mean()
outer.backward()
print(f"{inner.item():.5f} -> {outer.item():.5f}, slope of the rate {rate.grad.item():.5f}")
