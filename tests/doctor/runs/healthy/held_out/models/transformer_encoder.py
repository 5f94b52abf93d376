import torch
import torch.nn as nn


class MajorityModel(nn.Module):
    def __init__(self, vocab=5, d_model=16, max_len=9):
        super().__init__()
        self.tokens = nn.Embedding(vocab, d_model, padding_idx=0)
        self.positions = nn.Parameter(torch.randn(1, max_len, d_model) * 0.02)
        layer = nn.TransformerEncoderLayer(
            d_model, 2, dim_feedforward=32, dropout=0.1, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.classifier = nn.Linear(d_model, vocab)

    def forward(self, ids):
        padding = ids == 0
        x = self.tokens(ids) + self.positions[:, : ids.size(1)]
        x = self.encoder(x, src_key_padding_mask=padding)
        keep = (~padding).unsqueeze(-1).float()
        pooled = (x * keep).sum(1) / keep.sum(1)
        return self.classifier(pooled)


def get_batch(n=64, length=9):
    ids = torch.randint(1, 5, (n, length))
    cut = torch.randint(4, length + 1, (n, 1))
    ids = ids.masked_fill(torch.arange(length) >= cut, 0)
    counts = torch.stack([(ids == k).sum(1) for k in range(1, 5)], dim=1)
    return ids, counts.argmax(1) + 1


torch.manual_seed(10)
model = MajorityModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
loss_fn = nn.CrossEntropyLoss()
model.train()
for step in range(120):
    ids, labels = get_batch()
    optimizer.zero_grad()
    loss = loss_fn(model(ids), labels)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())

model.eval()
with torch.no_grad():
    ids, labels = get_batch(256)
    print("accuracy", (model(ids).argmax(1) == labels).float().mean().item())
