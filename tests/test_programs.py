"""Whole programs, in the style of well-known projects, with the import swapped: the same losses.

The programs in ``programs/`` were written for this test, with the imports, idioms and options such
projects have.  Each runs with PyTorch and with whygrad.  The two draw different random numbers from
the same seed, so here both draw from one stream: whatever fills a tensor with random numbers or
shuffles indices is replaced by the same few lines of NumPy.  Nothing in a program knows of it.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.test_scripts import compare, one_thread_and_defaults, swapped

PROGRAMS = Path(__file__).parent / "programs"
FEW_STEPS = {
    "dcgan": "--niter 1 --manualSeed 7 --outf models",
    "dqn": "--episodes 5",
    "makemore": "--max-steps 4",
    "mingpt": "--max_iters 7",
    "nanogpt": "--max_iters 5 --eval_interval 3 --eval_iters 2 --batch_size 4",
    "reinforce": "--episodes 6",
    "wgan_gp": "--n_epochs 2",
}


class Stream:
    """Random functions of a library, from one NumPy generator."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.rng = np.random.RandomState(0)

    def manual_seed(self, seed: int) -> None:
        self.rng = np.random.RandomState(seed % 2**32)

    def _tensor(self, array: Any, options: dict[str, Any]) -> Any:
        dtype = options.get("dtype") or self.library.get_default_dtype()
        return self.library.tensor(np.asarray(array).tolist(), dtype=dtype)

    @staticmethod
    def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
        return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size

    def rand(self, *size: Any, **options: Any) -> Any:
        return self._tensor(self.rng.random_sample(self._shape(size)), options)

    def randn(self, *size: Any, **options: Any) -> Any:
        return self._tensor(self.rng.standard_normal(self._shape(size)), options)

    def randint(self, *bounds: Any, **options: Any) -> Any:
        *limits, size = bounds
        low, high = limits if len(limits) == 2 else (0, *limits)
        options.setdefault("dtype", self.library.int64)
        return self._tensor(self.rng.randint(low, high, size), options)

    def multinomial(self, probs: Any, num_samples: int, replacement: bool = False, **_: Any) -> Any:
        rows = probs.detach().double().numpy().reshape(-1, probs.shape[-1])
        edges = rows.cumsum(1) / rows.sum(1, keepdims=True)
        assert replacement or num_samples == 1
        points = self.rng.random_sample((len(rows), num_samples))
        drawn = [np.searchsorted(e[:-1], u, "right") for e, u in zip(edges, points, strict=True)]
        shape = (*probs.shape[:-1], num_samples)
        return self._tensor(np.reshape(drawn, shape), {"dtype": self.library.int64})

    def fills(self) -> dict[str, Any]:
        """Methods that fill a tensor."""
        stream = self

        def uniform_(tensor: Any, low: float = 0.0, high: float = 1.0, **_: Any) -> Any:
            drawn = stream.rng.uniform(low, high, tuple(tensor.shape))
            return tensor.copy_(stream._tensor(drawn, {}))

        def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, **_: Any) -> Any:
            drawn = stream.rng.normal(mean, std, tuple(tensor.shape))
            return tensor.copy_(stream._tensor(drawn, {}))

        return {"uniform_": uniform_, "normal_": normal_}

    def order(self) -> Any:
        """How a RandomSampler goes through its dataset."""
        stream = self

        def __iter__(sampler: Any) -> Iterator[int]:
            size = len(sampler.data_source)
            if sampler.replacement:
                for _ in range(sampler.num_samples):
                    yield int(stream.rng.randint(size))
            else:
                yield from stream.rng.permutation(size).tolist()

        return __iter__

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("manual_seed", "rand", "randn", "randint", "multinomial"):
                patch.setattr(self.library, name, getattr(self, name))
            for name, fill in self.fills().items():
                patch.setattr(self.library.Tensor, name, fill)
            patch.setattr(self.library.utils.data.RandomSampler, "__iter__", self.order())
            normal = self.library.distributions.Normal
            patch.setattr(normal, "sample", lambda d: d.loc.detach() + d.scale.detach() *
                          self.randn(*d.batch_shape))  # fmt: skip
            yield


def printed(library: Any, source: str, name: str, folder: Path) -> str:
    folder.mkdir()
    shown = io.StringIO()
    program = types.ModuleType("__main__")  # dataclasses look their module up
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(sys, "argv", [name, *FEW_STEPS[name].split()])
        patch.setitem(sys.modules, "__main__", program)
        patch.chdir(folder)
        stack.enter_context(one_thread_and_defaults())
        stack.enter_context(Stream(library).installed())
        stack.enter_context(contextlib.redirect_stdout(shown))
        exec(compile(source, f"{name}.py", "exec"), program.__dict__)
    return shown.getvalue()


@pytest.mark.parametrize("name", sorted(FEW_STEPS))
def test_losses_are_the_same(name: str, tmp_path: Path) -> None:
    source = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
    theirs = printed(torch, source, name, tmp_path / "torch")
    mine = printed(whygrad, swapped(source), name, tmp_path / "whygrad")
    assert len(re.findall(r"\d\.\d{6}", theirs)) >= 4, "losses with six decimals"
    compare(mine.replace("whygrad.", "torch."), theirs)
    written = [
        sorted(
            str(path.relative_to(side)).partition(".tfevents.")[0]  # then comes the time
            for path in side.rglob("*")
            if path.is_file()
        )
        for side in (tmp_path / "torch", tmp_path / "whygrad")
    ]
    assert written[0] == written[1]
    assert written[0]


def test_every_program_runs() -> None:
    assert sorted(FEW_STEPS) == sorted(path.stem for path in PROGRAMS.glob("*.py"))
