# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(0)

layers = []
for width_in, width_out in [(4, 32), (32, 32), (32, 32), (32, 32)]:
    layers += [nn.Linear(width_in, width_out), nn.Tanh()]
model = nn.Sequential(*layers, nn.Linear(32, 1))
for p in model.parameters():
    if p.dim() > 1:
        nn.init.normal_(p, std=1e-4)  # expect: bad-initialization
    else:
        nn.init.zeros_(p)

x = whygrad.randn(200, 4)
y = x[:, :1] * x[:, 1:2] + x[:, 2:3]
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(200):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print("step", step, "loss", loss.item())
print("last", loss.item())
