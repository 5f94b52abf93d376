import torch
import torch.nn as nn

torch.manual_seed(15)
x = torch.randn(200, 6)
rating = (x[:, 0] - x[:, 1]).unsqueeze(1)
clicked = (x[:, 2] + x[:, 3] > 0).float().unsqueeze(1)

trunk = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
rating_head = nn.Linear(32, 1)
click_head = nn.Linear(32, 1)
opt_trunk = torch.optim.SGD(trunk.parameters(), lr=0.1)
opt_heads = torch.optim.Adam([*rating_head.parameters(), *click_head.parameters()], lr=0.02)

for step in range(150):
    h = trunk(x)
    rating_loss = nn.functional.mse_loss(rating_head(h), rating)
    click_loss = nn.functional.binary_cross_entropy_with_logits(click_head(h), clicked)

    opt_trunk.zero_grad()
    opt_heads.zero_grad()
    rating_loss.backward(retain_graph=True)
    click_loss.backward()
    opt_trunk.step()
    opt_heads.step()
    if step % 30 == 0:
        print(f"step {step}: rating {rating_loss.item():.4f} click {click_loss.item():.4f}")
