import torch
import torch.nn as nn

torch.manual_seed(0)
text = "hello world, this is a small text. " * 20
vocab = {c: i for i, c in enumerate(sorted(set(text)))}
ids = torch.tensor([vocab[c] for c in text])


class CharRNN(nn.Module):
    def __init__(self, n, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(n, 16)
        self.gru = nn.GRU(16, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, n)

    def forward(self, x, h=None):
        out, h = self.gru(self.emb(x), h)
        return self.fc(out), h


model = CharRNN(len(vocab))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    h = None
    losses = []
    for i in range(0, len(ids) - 26, 25):
        x, y = ids[i : i + 25].unsqueeze(0), ids[i + 1 : i + 26]
        logits, h = model(x, h)
        h = h.detach()
        loss = criterion(logits.squeeze(0), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")
