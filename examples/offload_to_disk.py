"""Activations wait on disk: a pack hook writes them to files, an unpack hook reads them back.

A graph holds what its rules will need, and for a deep network that is most of the memory of a
training step.  With two small hooks it holds file names instead.
"""

import tempfile
from pathlib import Path

import numpy as np

import whygrad as wg
from whygrad.autograd import graph

DEPTH, BATCH, WIDTH = 12, 256, 256

folder = tempfile.TemporaryDirectory()


class OnDisk:
    """One saved tensor in a file, which is deleted when the graph lets go of it."""

    written = 0

    def __init__(self, tensor):
        self.path = Path(folder.name, f"{OnDisk.written}.npy")
        OnDisk.written += 1
        np.save(self.path, tensor.detach().numpy())

    def load(self):
        return wg.from_numpy(np.load(self.path))

    def __del__(self):
        self.path.unlink()


def pack(tensor):
    """Small tensors and parameters are not worth a file: the latter are in memory anyway."""
    if tensor.nbytes < 10_000 or (tensor.is_leaf and tensor.requires_grad):
        return tensor
    return OnDisk(tensor)


def unpack(packed):
    return packed.load() if isinstance(packed, OnDisk) else packed


wg.manual_seed(0)
data = wg.randn(BATCH, WIDTH)
weights = [(wg.randn(WIDTH, WIDTH) / WIDTH**0.5).requires_grad_() for _ in range(DEPTH)]


def network():
    hidden = data
    for weight in weights:
        hidden = (hidden @ weight).tanh()
    return (hidden**2).mean()


def step(name):
    """Forward and backward: returns the gradients, and prints what was held in between."""
    with graph.saved_bytes_peak() as saved:
        loss = network()
        held = graph.memory(loss)
        files = [file.stat().st_size for file in Path(folder.name).iterdir()]
        loss.backward()
    in_graph, on_disk = held.activations + held.constants, sum(files)
    print(f"{name:9}  {in_graph:14,}  {on_disk:9,} in {len(files):2} files  {saved.peak:17,}")
    gradients = [weight.grad for weight in weights]
    for weight in weights:
        weight.grad = None
    return gradients


print("bytes      in the graph  on disk                at most in memory")
plain = step("in memory")
with graph.saved_tensors_hooks(pack, unpack):
    offloaded = step("on disk")
print("\na hidden layer is saved by tanh and by the next product, so it is written twice")
same = all((a == b).all().item() for a, b in zip(plain, offloaded, strict=True))
print(f"the same gradients, bit for bit: {same}")
print(f"files left: {len(list(Path(folder.name).iterdir()))}")
folder.cleanup()
