import torch
import torch.nn as nn

torch.manual_seed(7)
SEQ_LEN = 60


def batch(n=32):
    """The first symbol decides the class, the rest is noise."""
    label = torch.randint(0, 2, (n,))
    seq = 0.1 * torch.randn(n, SEQ_LEN, 4)
    seq[:, 0, 0] = label.float() * 2 - 1
    return seq, label


class Recall(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.RNN(4, hidden, batch_first=True)  # expect: vanishing-gradient
        self.head = nn.Linear(hidden, 2)

    def forward(self, seq):
        out, _ = self.rnn(seq)  # expect: vanishing-gradient
        return self.head(out[:, -1])


model = Recall()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for step in range(120):
    seq, label = batch()
    loss = criterion(model(seq), label)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")

seq, label = batch(200)
print("accuracy", (model(seq).argmax(1) == label).float().mean().item())
