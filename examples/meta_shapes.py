"""The shapes, the parameters and the activations of a large model, without allocating any of it.

On the ``meta`` device a tensor has a shape and a dtype but no data, and ops compute shapes only.
"""

import time

import whygrad as wg
from whygrad.nn.functional import gelu

layers, width, vocabulary, batch, length = 80, 8192, 128_000, 8, 2048
started = time.perf_counter()
parameters = []


def weight(*shape):
    parameters.append(wg.empty(*shape, device="meta", requires_grad=True))
    return parameters[-1]


def attention(x):
    query, key, value = (x @ weight(width, width) for _ in range(3))
    scores = query @ key.transpose(-2, -1) / width**0.5
    return scores.softmax(-1) @ value @ weight(width, width)


def feed_forward(x):
    return gelu(x @ weight(width, 4 * width)) @ weight(4 * width, width)


tokens = wg.zeros(batch, length, dtype=wg.int64, device="meta")
x = weight(vocabulary, width)[tokens]
print(f"embedded tokens: {tuple(x.shape)}")
for _ in range(layers):
    x = x + attention(x)
    x = x + feed_forward(x)
logits = x @ weight(width, vocabulary)
print(f"logits:          {tuple(logits.shape)}, {logits.dtype}")

activations, waiting, seen = {}, [logits.grad_fn], set()
while waiting:
    node = waiting.pop()
    if node not in seen:
        seen.add(node)
        waiting += [parent for parent, _ in node.next_functions if parent is not None]
        kept = [value for value in node.saved.values() if getattr(value, "ndim", 0) == 3]
        activations |= {id(value): value.nbytes for value in kept}  # 3-d: it has a batch
logits.sum().backward()
assert all(each.grad.shape == each.shape for each in parameters)
count = sum(each.numel() for each in parameters)
print(f"parameters:      {count:,} in {len(parameters)} tensors, {4 * count / 1e9:.0f} GB")
print(f"backward keeps:  {sum(activations.values()) / 1e9:.0f} GB of activations")
print("gradients:       one per parameter, of its shape")
print(f"time:            {time.perf_counter() - started:.2f} s")
