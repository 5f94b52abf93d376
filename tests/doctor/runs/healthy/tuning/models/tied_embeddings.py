import torch
import torch.nn as nn
import torch.nn.functional as F


class TiedLM(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab, bias=False)
        self.out.weight = self.embed.weight
        nn.init.normal_(self.embed.weight, std=0.1)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.out(hidden)


torch.manual_seed(0)
vocab = 12
start = torch.randint(0, vocab, (64, 1))
sequences = (start + 5 * torch.arange(11)) % vocab
model = TiedLM(vocab, 32)
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
for step in range(100):
    logits = model(sequences[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, vocab), sequences[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, f"perplexity {torch.exp(loss).item():.2f}")
print("last", loss.item())
