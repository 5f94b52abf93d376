"""Split the data, watch the validation loss, keep the best weights, stop when it gets worse."""

import copy

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

x = torch.sin(torch.arange(200) * 0.61).view(50, 4)
y = x[:, :1] * x[:, 1:2] + 0.3 * torch.cos(torch.arange(50) * 7.0).unsqueeze(1)
dataset = TensorDataset(x, y)
train_set, valid_set = random_split(dataset, [0.7, 0.3], generator=torch.Generator().manual_seed(0))
print(len(dataset), len(train_set), len(valid_set), dataset[3][0].shape)
print(sorted([*train_set.indices, *valid_set.indices]) == list(range(50)))
train_set = torch.utils.data.Subset(dataset, [i for i in range(50) if i % 10 < 7])
valid_set = torch.utils.data.Subset(dataset, [i for i in range(50) if i % 10 >= 7])
sampler = torch.utils.data.SequentialSampler(train_set)
loader = DataLoader(train_set, batch_size=16, sampler=sampler, num_workers=0, drop_last=True)

model = nn.Sequential(nn.Linear(4, 24), nn.ELU(), nn.Linear(24, 24), nn.ELU(), nn.Linear(24, 1))
for number, parameter in enumerate(model.parameters()):
    wave = torch.sin(torch.arange(parameter.numel()) * 2.3 + number)
    parameter.data.copy_(wave.view_as(parameter) * parameter.shape[-1] ** -0.5)
criterion = nn.MSELoss(reduction="mean")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=2)


def evaluate(part):
    model.eval()
    inputs, targets = next(iter(DataLoader(part, batch_size=len(part))))
    with torch.inference_mode():
        return criterion(model(inputs), targets).item()


best, best_state, waited = float("inf"), None, 0
for epoch in range(60):
    model.train()
    for inputs, targets in loader:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()
    loss = evaluate(valid_set)
    scheduler.step(loss)
    if loss < best:
        best, best_state, waited = loss, copy.deepcopy(model.state_dict()), 0
    else:
        waited += 1
    if epoch % 5 == 0:
        print(f"epoch {epoch}: {loss:.4f}, lr {optimizer.param_groups[0]['lr']:.5f}")
    if waited == 6:
        print("stopped after epoch", epoch)
        break
model.load_state_dict(best_state)
print(f"best {best:.4f} = {evaluate(valid_set):.4f}")
