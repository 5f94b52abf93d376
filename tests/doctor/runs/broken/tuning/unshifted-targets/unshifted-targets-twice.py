import torch
import torch.nn as nn

torch.manual_seed(7)
V = 12
after = torch.randperm(V)
songs = torch.randint(0, V, (160, 14))
for place in range(1, 14):
    follows = after[songs[:, place - 1]]
    songs[:, place] = torch.where(torch.rand(160) < 0.8, follows, songs[:, place])

table = nn.Embedding(V, 16)
memory = nn.LSTM(16, 32, batch_first=True)
head = nn.Linear(32, V)
criterion = nn.CrossEntropyLoss()
parts = nn.ModuleList([table, memory, head])
optimizer = torch.optim.Adam(parts.parameters(), lr=5e-3)
for epoch in range(8):
    for batch in songs.split(20):
        inputs, targets = batch[:, :-1], batch[:, 1:]
        hidden, _ = memory(table(inputs))
        logits = head(hidden)
        shifted, wanted = logits[:, :-1], targets[:, 1:]  # expect: unshifted-targets
        loss = criterion(shifted.transpose(1, 2), wanted)  # expect: unshifted-targets
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
