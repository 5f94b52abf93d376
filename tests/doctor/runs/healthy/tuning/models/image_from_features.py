import torch
import torch.nn.functional as F

# no model: the picture itself is what is optimised
torch.manual_seed(0)
kernel = torch.randn(6, 1, 3, 3) / 3
picture = torch.zeros(1, 1, 10, 10)
picture[..., 2:8, 4:6] = 1.0
wanted = F.conv2d(picture, kernel, padding=1)

guess = torch.full((1, 1, 10, 10), 0.5, requires_grad=True)
optimizer = torch.optim.Adam([guess], lr=0.05)
for i in range(120):
    optimizer.zero_grad()
    features = F.conv2d(guess, kernel, padding=1)
    content = F.mse_loss(features, wanted)
    smooth = (guess[..., 1:] - guess[..., :-1]).abs().mean()
    loss = content + 1e-3 * smooth
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        guess.clamp_(0, 1)
    if i % 20 == 0:
        print(i, loss.item(), (guess - picture).abs().mean().item())
