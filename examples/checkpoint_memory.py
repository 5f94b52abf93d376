"""How deep can a network be?  Checkpointing buys memory with a second forward pass.

A graph holds what its rules need, so memory grows with depth.  Cut n layers into √n segments, keep
only the values between them, and compute each segment again when backward reaches it: then memory
grows with √n, and a training step takes about a third longer.
"""

import time
from functools import partial

import whygrad as wg
from whygrad.autograd.graph import saved_bytes_peak
from whygrad.nn.functional import linear, relu, softmax
from whygrad.utils.checkpoint import checkpoint_sequential

WIDTH, HEADS, TOKENS, BATCH = 128, 4, 64, 1
DEPTHS = (10, 20, 40, 80)

wg.manual_seed(0)
data = wg.randn(BATCH, TOKENS, WIDTH)


def norm(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred * (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt()


def heads(x):
    return x.reshape(BATCH, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)


def attention(x, inward, outward):
    query, key, value = map(heads, linear(x, inward).chunk(3, dim=-1))
    weights = softmax(query @ key.mT * (WIDTH // HEADS) ** -0.5, dim=-1)
    return linear((weights @ value).transpose(1, 2).reshape(x.shape), outward)


def block(inward, outward, up, down, x):
    x = x + attention(norm(x), inward, outward)
    return x + linear(relu(linear(norm(x), up)), down)


def new_layer():
    shapes = (3 * WIDTH, WIDTH), (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH)
    return [(wg.randn(*shape) * 0.02).requires_grad_() for shape in shapes]


layers = [new_layer() for _ in range(max(DEPTHS))]


def step(depth, segments):
    """Forward and backward; returns the gradient of the first weight."""
    blocks = [partial(block, *layer) for layer in layers[:depth]]
    checkpoint_sequential(blocks, segments, data).square().mean().backward()
    gradient = layers[0][0].grad
    for layer in layers:
        for weight in layer:
            weight.grad = None
    return gradient


def seconds(*step_of):
    start = time.perf_counter()
    step(*step_of)
    return time.perf_counter() - start


print("layers      plain  segments  checkpointed")
plain, checkpointed = [], []
for depth in DEPTHS:
    segments = round(depth**0.5)
    with saved_bytes_peak() as all_saved:
        expected = step(depth, 1)
    with saved_bytes_peak() as few_saved:
        gradient = step(depth, segments)
    plain.append(all_saved.peak / 1e6)
    checkpointed.append(few_saved.peak / 1e6)
    less = plain[-1] / checkpointed[-1]
    print(
        f"{depth:6} {plain[-1]:7.1f} MB {segments:8} {checkpointed[-1]:10.1f} MB, {less:.1f}× less"
    )
print(f"\nthe same gradients, bit for bit: {(gradient == expected).all().item()}")

times = [(seconds(depth, 1), seconds(depth, segments)) for _ in range(2)]
before, after = map(min, zip(*times, strict=True))
print(f"a step of {depth} layers: {before:.2f} s, checkpointed {after / before:.2f}× as long")

try:
    from matplotlib.figure import Figure
except ImportError:
    for depth, *sizes in zip(DEPTHS, plain, checkpointed, strict=True):
        for size, mark in zip(sizes, "█░", strict=True):
            print(f"{depth:4} {mark * max(1, round(60 * size / max(plain)))} {size:.0f} MB")
else:
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(DEPTHS, plain, "o-", label="plain")
    axes.plot(DEPTHS, checkpointed, "o-", label="√n checkpointed segments")
    axes.set(xlabel="layers", ylabel="saved for backward, at most (MB)", ylim=(0, None))
    axes.legend()
    figure.savefig("checkpoint_memory.svg")
    print("curves written to checkpoint_memory.svg")
