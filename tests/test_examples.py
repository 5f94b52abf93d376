"""Every program in ``examples/`` runs as a reader would run it, and prints what it is about."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
KEY_LINES = {
    "checkpoint_memory": "    80    36.7 MB        9        4.4 MB, 8.3× less",
    "diamond": "dL/da = 4, dL/db = -4, dL/dc = -12",
    "dispatch_explained": "casts a from int64 to float32, then the op is called again",
    "gradcheck_sweep": "at step 1e-04: central 8 correct digits, forward 4",
    "meta_shapes": "parameters:      66,521,661,440 in 482 tensors, 266 GB",
    "new_backend": "price.grad = tensor([10., 20., 30.], device='ledger')",
    "offload_to_disk": "the same gradients, bit for bit: True\nfiles left: 0",
    "overwritten_value": "w.grad is None: a backward that fails changes nothing",
    "per_sample_gradients": "the model disagrees most with sample 7",
    "sparse_regression": "gradient of the design: whygrad.sparse_coo, 587 numbers",
    "tiled_attention": " 1024    4,194,304      135,168    31×",
    "two_moons_values": "  60  0.0446      100%",
    "two_layer_network": "dW1       (1, 16)    (1, 16)",
}


def run(name: str, folder: Path) -> str:
    """What the example prints when run in ``folder``; warnings are errors."""
    command = [sys.executable, "-X", "utf8", "-W", "error", str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(KEY_LINES)


@pytest.mark.parametrize("name", KEY_LINES)
def test_example_runs(name: str, tmp_path: Path) -> None:
    assert KEY_LINES[name] in run(name, tmp_path)


def test_sweep_draws_its_curves(tmp_path: Path) -> None:
    run("gradcheck_sweep", tmp_path)
    assert "<svg" in (tmp_path / "gradcheck_sweep.svg").read_text()


def test_training_reduces_the_loss(tmp_path: Path) -> None:
    rows = run("two_layer_network", tmp_path).split("step   loss\n")[1].splitlines()
    losses = [float(row.split()[1]) for row in rows]
    assert losses[-1] < losses[0] / 10
