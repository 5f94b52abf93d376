"""Which of two letters came more often?  A GRU over padded sequences, and an RNN cell by hand."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

sequences = [torch.tensor([(i * k) % 3 % 2 + 1 for k in range(3, 6 + i % 5)]) for i in range(24)]
labels = torch.tensor([int((s == 1).sum() > (s == 2).sum()) for s in sequences])
padded = pad_sequence(sequences, batch_first=True, padding_value=0)
lengths = torch.tensor([len(s) for s in sequences])
print(padded.shape, lengths[:6].tolist(), labels.sum().item())


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(3, 4, padding_idx=0)
        self.gru = nn.GRU(4, 8, bidirectional=True, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens, lengths):
        out, last = self.gru(self.embedding(tokens))
        mask = (torch.arange(tokens.size(1)) < lengths[:, None]).unsqueeze(-1)
        mean = (out * mask).sum(1) / lengths[:, None]
        return self.head(mean), last


model = Counter()
with torch.no_grad():
    for number, parameter in enumerate(model.parameters()):
        wave = torch.cos(torch.arange(parameter.numel(), dtype=torch.float32) + number)
        parameter.copy_(0.5 * wave.reshape(parameter.shape))
    model.embedding.weight[0].fill_(0)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for epoch in range(25):
    scores, last = model(padded, lengths)
    loss = criterion(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 8 == 0:
        right = (scores.argmax(1) == labels).float().mean().item()
        print(f"epoch {epoch}: {loss.item():.4f}, accuracy {right:.3f}")
print(last.shape, model.embedding.weight.grad[0].abs().sum().item())

cell = nn.RNNCell(4, 3)
with torch.no_grad():
    for parameter in cell.parameters():
        parameter.copy_(torch.sin(torch.arange(parameter.numel())).view_as(parameter))
state = torch.zeros(2, 3)
for token in padded[:2].T:
    state = cell(model.embedding(token), state)
state.sum().backward()
print(state.detach())
print(cell.weight_hh.grad)
