"""Every program in ``examples/`` runs as a reader would run it, and prints what it is about."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
KEY_LINES = {
    "broken_loop": " nan\n",
    "char_gpt": "entropy of single letters: 3.",
    "checkpoint_memory": "    80    36.7 MB        9        4.4 MB, 8.3× less",
    "diamond": "dL/da = 4, dL/db = -4, dL/dc = -12",
    "digits": "15,418 parameters, 163 numbers in buffers",
    "dispatch_explained": "casts a from int64 to float32, then the op is called again",
    "experiments/clipping": "smallest cosine by norm 1.0000, by value 0.5",
    "experiments/exploding_gradients": "loss 2.4e+02, then nan, then nan",
    "experiments/missing_zero_grad": "without  zero_grad: 1 2 3 4 5 6 7 8 9 10",
    "experiments/unsafe_in_place": "gradient after the write by NumPy: 23% off",
    "experiments/vanishing_gradients": "less than a billionth arrives: True",
    "experiments/wrong_backward": "gradcheck failed: Jacobian mismatch",
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
    "values_and_tensors": "largest difference of a weight below 1e-12: True",
}


def run(name: str, folder: Path, *arguments: str) -> str:
    """What the example prints when run in ``folder``; warnings are errors."""
    command = [sys.executable, "-X", "utf8", "-W", "error", str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(
        [*command, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        # threads that wait by spinning get in each other's way when several tests run at once
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_here() -> None:
    names = {
        path.relative_to(EXAMPLES).with_suffix("").as_posix() for path in EXAMPLES.rglob("*.py")
    }
    assert names - {"experiments/picture"} == set(KEY_LINES)


def curves_are_drawn(output: str, folder: Path) -> None:
    (name,) = re.findall(r"(?:drawn in|curves written to) (\S+)", output)
    assert "<svg" in (folder / name).read_text(encoding="utf-8")


def training_reduces_the_loss(output: str, folder: Path) -> None:
    losses = [float(row.split()[1]) for row in output.split("step   loss\n")[1].splitlines()]
    assert losses[-1] < losses[0] / 10


def digits_are_read(output: str, folder: Path) -> None:
    accuracies = re.findall(r"test accuracy ([\d.]+)%", output)
    assert len(accuracies) == 2
    assert all(float(accuracy) >= 97 for accuracy in accuracies)


def loss_falls_for_a_while(output: str, folder: Path) -> None:
    curves_are_drawn(output, folder)
    table = output.partition("\n\n")[0].splitlines()[1:]
    right, wrong = zip(*[map(float, row.split()[1:]) for row in table], strict=True)
    assert wrong[0] > wrong[1] > wrong[2] > wrong[3]
    assert wrong[-1] > 2 * right[-1]


CHECKS = {
    **{name: curves_are_drawn for name in KEY_LINES if name.startswith("experiments/")},
    "checkpoint_memory": curves_are_drawn,
    "digits": digits_are_read,
    "experiments/wrong_backward": loss_falls_for_a_while,
    "gradcheck_sweep": curves_are_drawn,
    "two_layer_network": training_reduces_the_loss,
}


@pytest.mark.parametrize("name", [name for name in KEY_LINES if name != "char_gpt"])
def test_example_runs(name: str, tmp_path: Path) -> None:
    output = run(name, tmp_path)
    assert KEY_LINES[name] in output
    if name in CHECKS:
        CHECKS[name](output, tmp_path)


def test_gpt_learns_and_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    def rows(steps: int, *more: str) -> list[str]:
        size = ("--steps", str(steps), "--report", "10", "--letters", "20")
        return run("char_gpt", tmp_path, *size, *more).splitlines()

    straight = rows(40)
    assert straight[1].startswith(KEY_LINES["char_gpt"])
    rows(20)
    resumed = rows(40, "--resume")
    after_the_break = next(i for i, row in enumerate(straight) if row.startswith("   30"))
    assert resumed[4:] == straight[after_the_break:], "losses, weights and what it writes"
    unigram = float(straight[1].split()[-1])
    losses = [float(row.split()[2]) for row in straight[4:8]]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < unigram - 0.2
