"""Look into a network while it runs: forward, backward and tensor hooks."""

import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)
        self.act = nn.GELU()

    def forward(self, x):
        return x + self.act(self.linear(self.norm(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(4) for _ in range(2)])
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def fill(module):
    if isinstance(module, nn.Linear):
        wave = torch.sin(torch.arange(module.weight.numel()) * 0.8)
        module.weight.data = wave.view_as(module.weight) * 0.5
        module.bias.data.zero_()


model = Model()
model.apply(fill)
print(model)
print([name for name, _ in model.named_modules()])
print([name for name, _ in model.named_parameters()])

activations, gradients, handles = {}, {}, []


def keep_output(name):
    def hook(module, inputs, output):
        activations[name] = output.detach()

    return hook


def keep_gradient(name):
    def hook(module, grad_input, grad_output):
        gradients[name] = grad_output[0].clone()

    return hook


for name, module in model.named_modules():
    if isinstance(module, (nn.Linear, nn.GELU)):
        handles.append(module.register_forward_hook(keep_output(name)))
        handles.append(module.register_full_backward_hook(keep_gradient(name)))

x = torch.linspace(-1, 1, 12).view(3, 4)
model(x).pow(2).mean().backward()
for name, activation in activations.items():
    print(f"{name:16} out {activation.norm():.5f}  grad {gradients[name].norm():.5f}")

for handle in handles:
    handle.remove()
activations.clear()
model(x)
print("after removal:", len(activations))

doubled = model.head.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
clipped = model.head.weight.register_hook(lambda gradient: gradient.clamp(-0.01, 0.01))
shown = model.head.register_forward_hook(lambda module, args, output: output + 100)
model.zero_grad()
out = model(x)
out.sum().backward()
print(out.detach().flatten(), model.head.weight.grad)
doubled.remove()
clipped.remove()
shown.remove()
print(model(x).detach().flatten())
