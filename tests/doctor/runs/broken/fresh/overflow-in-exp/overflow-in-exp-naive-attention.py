import torch
import torch.nn as nn

torch.manual_seed(123)


def softmax_naive(x):
    e = torch.exp(x)  # expect: overflow-in-exp
    return e / e.sum(dim=-1, keepdim=True)  # expect: overflow-in-exp


class SelfAttentionClassifier(nn.Module):
    def __init__(self, vocab_size, dim, classes):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, dim)
        self.fc = nn.Linear(dim, classes)

    def forward(self, tokens):
        x = self.emb(tokens)
        scores = x @ x.transpose(1, 2)
        weights = softmax_naive(scores)  # expect: overflow-in-exp
        context = weights @ x
        return self.fc(context.mean(dim=1))


tokens = torch.randint(0, 50, (64, 6))
labels = (tokens < 10).any(dim=1).long()

model = SelfAttentionClassifier(50, 128, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(20):
    logits = model(tokens)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
