"""Special functions under PyTorch's names: ``whygrad.special.erfcx``, ``.zeta``, ``.i1``, …

Some are the functions of the same or another name at the top of the package.
"""

from __future__ import annotations

from typing import Any

from whygrad.ops import functions, table

# Names here, and what they are called at the top of the package.
_SAME = {
    "digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2",
    "expit": "sigmoid", "expm1": "expm1", "gammainc": "igamma", "gammaincc": "igammac",
    "gammaln": "lgamma", "i0": "i0", "log1p": "log1p", "log_softmax": "log_softmax",
    "logit": "logit", "logsumexp": "logsumexp", "multigammaln": "mvlgamma",
    "polygamma": "polygamma", "psi": "digamma", "round": "round", "sinc": "sinc",
    "softmax": "softmax", "xlogy": "xlogy",
}  # fmt: skip
_found: dict[str, Any] = {name: functions[original] for name, original in _SAME.items()} | {
    name.removeprefix("special_"): op.public
    for name, op in table.items()
    if name.startswith("special_")
}

__all__ = sorted(_found)
globals().update(_found)
