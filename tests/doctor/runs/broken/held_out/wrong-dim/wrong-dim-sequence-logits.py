import torch
import torch.nn as nn

torch.manual_seed(52)
VOCAB = 12
LENGTH = 12


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 16)
        self.gru = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, VOCAB)

    def forward(self, tokens):
        hidden, _ = self.gru(self.embed(tokens))
        return self.out(hidden)


tokens = torch.randint(0, VOCAB, (64, LENGTH))
tags = (tokens + 1) % VOCAB

model = Tagger()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(60):
    logits = model(tokens)
    loss = criterion(logits, tags)  # expect: wrong-dim
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        accuracy = (logits.argmax(dim=-1) == tags).float().mean().item()
        print(f"step {step} loss {loss.item():.4f} accuracy {accuracy:.3f}")
