"""Modules that answer to PyTorch's dotted path as well as to their own.

A program may import ``whygrad.utils.data.dataloader`` because PyTorch has that path; the code
stands where it belongs here.  One table says which path is which module, and a finder hands out
that very module: there is no second copy of it, and nothing is loaded before somebody asks.  What
is inside a module moves with it (``utils.data._utils.collate`` is ``data.collate``).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["ALIASES", "install", "load_inside", "real_name"]

# PyTorch has every distribution in a module beside the others; here they stand in rooms.
_DISTRIBUTIONS = {
    "discrete": (
        "bernoulli", "binomial", "categorical", "geometric", "multinomial", "negative_binomial",
        "one_hot_categorical", "poisson",
    ),
    "multivariate": (
        "lkj_cholesky", "lowrank_multivariate_normal", "multivariate_normal", "wishart",
    ),
    "positive": (
        "chi2", "exponential", "fishersnedecor", "gamma", "generalized_pareto", "half_cauchy",
        "half_normal", "inverse_gamma", "log_normal", "pareto", "weibull",
    ),
    "real": ("cauchy", "gumbel", "laplace", "normal", "studentT", "uniform", "von_mises"),
    "unit": (
        "beta", "continuous_bernoulli", "dirichlet", "kumaraswamy", "logistic_normal",
        "relaxed_bernoulli", "relaxed_categorical",
    ),
}  # fmt: skip

# PyTorch's path and where the module stands, both under `whygrad`.
ALIASES: dict[str, str] = {
    f"distributions.{name}": f"distributions.{room}.{name}"
    for room, names in _DISTRIBUTIONS.items()
    for name in names
} | {
    "__config__": "compat.config",
    "accelerator": "hardware.accelerator",
    "autograd.forward_ad": "autograd.transforms.forward_ad",
    "autograd.functional": "func.functional",
    "backends": "hardware.backends",
    "compiler": "compat.compiler",
    "cpu": "hardware.cpu",
    "cuda": "hardware.cuda",
    "fft": "ops.public.fft",
    "jit": "compat.jit",
    "linalg": "ops.public.linalg",
    "mps": "hardware.mps",
    "multiprocessing": "compat.multiprocessing",
    "nn.modules.adaptive": "nn.modules.loss.adaptive",
    "nn.modules.channelshuffle": "nn.modules.shape",
    "nn.modules.distance": "nn.modules.loss.margin",
    "nn.modules.flatten": "nn.modules.shape",
    "nn.modules.fold": "nn.modules.pooling.fold",
    "nn.modules.instancenorm": "nn.modules.batchnorm",
    "nn.modules.linear_cross_entropy_options": "nn.modules.loss.linear_cross_entropy",
    "nn.modules.pixelshuffle": "nn.modules.shape",
    "nn.utils.clip_grad": "nn.utils.clipping",
    "nn.utils.convert_parameters": "nn.utils.vectors",
    "optim.adamw": "optim.adam",
    "overrides": "dispatch.overrides",
    "return_types": "ops.public.return_types",
    "serialization": "files.serialization",
    "sparse": "ops.public.sparse",
    "special": "ops.public.special",
    "types": "compat.types",
    "utils.data._utils": "data",
    "utils.data.dataloader": "data.loader",
    "utils.data.dataset": "data.dataset",
    "utils.data.distributed": "data.shares",
    "utils.data.sampler": "data.samplers",
    "utils.hooks": "autograd.hooks.handles",
    "version": "compat.version",
    "xpu": "hardware.xpu",
}


def real_name(path: str) -> str | None:
    """Where the module with this full path stands, if that is elsewhere."""
    package, _, inside = path.partition(".")
    if package != "whygrad":
        return None
    alias, rest = inside, ""
    while alias:
        if alias in ALIASES:
            return f"whygrad.{ALIASES[alias]}{rest}"
        alias, _, last = alias.rpartition(".")
        rest = f".{last}{rest}"
    return None


class _Finder:
    """Finds the aliases; stands before the finder of files, which would load a second copy."""

    def find_spec(
        self, path: str, _: Sequence[str] | None = None, __: ModuleType | None = None
    ) -> ModuleSpec | None:
        real = real_name(path)
        if real is None:
            return None
        return ModuleSpec(path, _Loader(real))  # type: ignore[arg-type]  # abc takes long to import


class _Loader:
    """Hands out the module under its real name."""

    def __init__(self, real: str) -> None:
        self._real = real

    def create_module(self, _: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._real)
        self._spec = module.__spec__  # Python is about to write the alias's over it
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


def install() -> None:
    """Let Python's import ask the table."""
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def load_inside(package: str) -> None:
    """Make the aliases inside a package its attributes, as submodules are once imported."""
    for alias in ALIASES:
        path = f"whygrad.{alias}"
        if path.rpartition(".")[0] == package:
            importlib.import_module(path)
