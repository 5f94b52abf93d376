"""A first look at tensors: making, indexing, reshaping, broadcasting, NumPy and back."""

import numpy as np
import torch

x = torch.tensor([[1, 2, 3], [4, 5, 6]])
print(x, x.shape, x.dtype, x.ndim, x.numel())
print(torch.zeros(2, 3), torch.ones(3, dtype=torch.int64), torch.full((2, 2), 7.5))
print(torch.arange(0, 10, 2), torch.linspace(0, 1, 5), torch.eye(3))

print(x[0], x[:, 1], x[-1, -1].item(), x[x > 2])
print(x.reshape(3, 2), x.view(-1), x.T, x.unsqueeze(0).shape, x.permute(1, 0).is_contiguous())

row = torch.tensor([10.0, 20.0, 30.0])
column = torch.tensor([[1.0], [2.0]])
print(row + column)
print((row * column).sum(dim=0), (row * column).mean(), (row * column).max(dim=1))
print(x.float() @ row, torch.einsum("ij,kj->ik", x.float(), x.float()))

array = np.arange(4, dtype=np.float32)
shared = torch.from_numpy(array)
array[0] = 99
print(shared, (shared * 2).numpy())
print(torch.cat([shared, shared]).shape, torch.stack([shared, shared]).shape)

y = torch.ones(3)
y.add_(1)
y[1] = -5
print(y, y.clamp(min=0), y.abs().sqrt(), torch.where(y > 0, y, torch.zeros_like(y)))
values, indices = torch.sort(torch.tensor([3.0, 1.0, 2.0]), descending=True)
print(values, indices, values.argmax(), torch.topk(values, 2))
print(torch.allclose(values, values + 1e-9), torch.equal(values, values), values.tolist())
for part in torch.arange(6).chunk(3):
    print(part.sum().item(), end=" ")
print(len(x), list(x.size()), x.size(1), float(row[0]), int(x[0, 0]), bool(y[0] > 0))
print(f"{row.mean().item():.3f} {row.std():.4f} {row.norm():.4f}")
