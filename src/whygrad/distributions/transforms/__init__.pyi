"""Invertible functions with the logarithm of how much they stretch: elements and vectors.

A transform maps its ``domain`` to its ``codomain``; ``transform.inv`` goes back.
``log_abs_det_jacobian(x, y)`` is ln |dy/dx| per event of the domain.
"""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.distributions.transforms.combined import CatTransform as CatTransform
from whygrad.distributions.transforms.combined import ComposeTransform as ComposeTransform
from whygrad.distributions.transforms.combined import IndependentTransform as IndependentTransform
from whygrad.distributions.transforms.combined import ReshapeTransform as ReshapeTransform
from whygrad.distributions.transforms.combined import StackTransform as StackTransform
from whygrad.distributions.transforms.elementwise import AbsTransform as AbsTransform
from whygrad.distributions.transforms.elementwise import AffineTransform as AffineTransform
from whygrad.distributions.transforms.elementwise import (
    CumulativeDistributionTransform as CumulativeDistributionTransform,
)
from whygrad.distributions.transforms.elementwise import ExpTransform as ExpTransform
from whygrad.distributions.transforms.elementwise import PowerTransform as PowerTransform
from whygrad.distributions.transforms.elementwise import SigmoidTransform as SigmoidTransform
from whygrad.distributions.transforms.elementwise import SoftplusTransform as SoftplusTransform
from whygrad.distributions.transforms.elementwise import TanhTransform as TanhTransform
from whygrad.distributions.transforms.transform import Transform as Transform
from whygrad.distributions.transforms.vectors import CorrCholeskyTransform as CorrCholeskyTransform
from whygrad.distributions.transforms.vectors import (
    LowerCholeskyTransform as LowerCholeskyTransform,
)
from whygrad.distributions.transforms.vectors import (
    PositiveDefiniteTransform as PositiveDefiniteTransform,
)
from whygrad.distributions.transforms.vectors import SoftmaxTransform as SoftmaxTransform
from whygrad.distributions.transforms.vectors import (
    StickBreakingTransform as StickBreakingTransform,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]

identity_transform: ComposeTransform
