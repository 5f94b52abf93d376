"""A training step of a small GPT with AdamW, written once for both libraries.

Memory is the growth of the process while it trains, over what the library and the model need
before the first step.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np

from bench.measure import Run, Workload

LAYERS, WIDTH, HEADS, CONTEXT, BATCH, VOCABULARY = 4, 128, 4, 64, 12, 96


def build(library: Any) -> Any:
    """The model: token and position embeddings, pre-norm blocks, a linear head."""
    nn = library.nn
    functional = nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1 = nn.LayerNorm(WIDTH)
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
            self.out = nn.Linear(WIDTH, WIDTH)
            self.norm2 = nn.LayerNorm(WIDTH)
            self.up = nn.Linear(WIDTH, 4 * WIDTH)
            self.down = nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            batch, time, width = x.shape
            heads = self.qkv(self.norm1(x)).view(batch, time, 3, HEADS, width // HEADS)
            query, key, value = heads.permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(batch, time, width))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, WIDTH)
            self.positions = nn.Embedding(CONTEXT, WIDTH)
            self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
            self.norm = nn.LayerNorm(WIDTH)
            self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.positions(library.arange(tokens.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return GPT()


def training_step(name: str) -> Run:
    library: Any = __import__(name)
    library.manual_seed(0)
    model = build(library)
    optimizer = library.optim.AdamW(model.parameters(), lr=1e-3)
    text = np.random.default_rng(0).integers(0, VOCABULARY, (BATCH, CONTEXT + 1))
    inputs, targets = library.tensor(text[:, :-1]), library.tensor(text[:, 1:])
    cross_entropy = library.nn.functional.cross_entropy

    def run() -> None:
        loss = cross_entropy(model(inputs).view(-1, VOCABULARY), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return run


def peak(name: str) -> int:
    """Bytes by which a process of its own grows in three steps."""
    program = f"from bench.workloads.gpt import growth; print(growth({name!r}))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1])


def growth(name: str) -> int:
    run = training_step(name)
    if name == "whygrad":  # which loads its compiler with the first large array
        import whygrad

        whygrad.fast.load()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3):
        run()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


WORKLOAD = Workload(
    "gpt",
    f"GPT of {LAYERS} layers, width {WIDTH}, {CONTEXT} × {BATCH} tokens, whole step with AdamW",
    {"whygrad": partial(training_step, "whygrad"), "torch": partial(training_step, "torch")},
    rounds=30,
    limits={"whygrad": 1.3},
    bytes={"whygrad": partial(peak, "whygrad"), "torch": partial(peak, "torch")},
    bytes_limits={"whygrad": 1.2},
)
