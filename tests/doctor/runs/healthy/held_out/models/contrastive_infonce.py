import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
text_encoder = nn.Linear(10, 16)
image_encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16))
logit_scale = nn.Parameter(torch.tensor(2.6))
to_text, to_image = torch.randn(6, 10), torch.randn(6, 20)
optimizer = torch.optim.AdamW(
    [*text_encoder.parameters(), *image_encoder.parameters(), logit_scale], lr=3e-3
)

for step in range(120):
    concept = torch.randn(32, 6)
    texts = concept @ to_text + 0.1 * torch.randn(32, 10)
    images = concept @ to_image + 0.1 * torch.randn(32, 20)
    t = F.normalize(text_encoder(texts), dim=-1)
    i = F.normalize(image_encoder(images), dim=-1)
    logits = logit_scale.exp() * t @ i.t()
    labels = torch.arange(32)
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        top1 = (logits.argmax(1) == labels).float().mean().item()
        print(f"step {step} loss {loss.item():.3f} top-1 {top1:.2f}")
