"""Losses as layers."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.nn.modules.loss.adaptive import (
    AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss,
)
from whygrad.nn.modules.loss.common import BCELoss as BCELoss
from whygrad.nn.modules.loss.common import BCEWithLogitsLoss as BCEWithLogitsLoss
from whygrad.nn.modules.loss.common import CrossEntropyLoss as CrossEntropyLoss
from whygrad.nn.modules.loss.common import CTCLoss as CTCLoss
from whygrad.nn.modules.loss.common import GaussianNLLLoss as GaussianNLLLoss
from whygrad.nn.modules.loss.common import HuberLoss as HuberLoss
from whygrad.nn.modules.loss.common import KLDivLoss as KLDivLoss
from whygrad.nn.modules.loss.common import L1Loss as L1Loss
from whygrad.nn.modules.loss.common import MSELoss as MSELoss
from whygrad.nn.modules.loss.common import NLLLoss as NLLLoss
from whygrad.nn.modules.loss.common import NLLLoss2d as NLLLoss2d
from whygrad.nn.modules.loss.common import PoissonNLLLoss as PoissonNLLLoss
from whygrad.nn.modules.loss.common import SmoothL1Loss as SmoothL1Loss
from whygrad.nn.modules.loss.common import _Loss as _Loss
from whygrad.nn.modules.loss.common import _WeightedLoss as _WeightedLoss
from whygrad.nn.modules.loss.linear_cross_entropy import (
    LinearCrossEntropyLoss as LinearCrossEntropyLoss,
)
from whygrad.nn.modules.loss.linear_cross_entropy import (
    LinearCrossEntropyOptions as LinearCrossEntropyOptions,
)
from whygrad.nn.modules.loss.margin import CosineEmbeddingLoss as CosineEmbeddingLoss
from whygrad.nn.modules.loss.margin import CosineSimilarity as CosineSimilarity
from whygrad.nn.modules.loss.margin import HingeEmbeddingLoss as HingeEmbeddingLoss
from whygrad.nn.modules.loss.margin import MarginRankingLoss as MarginRankingLoss
from whygrad.nn.modules.loss.margin import MultiLabelMarginLoss as MultiLabelMarginLoss
from whygrad.nn.modules.loss.margin import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from whygrad.nn.modules.loss.margin import MultiMarginLoss as MultiMarginLoss
from whygrad.nn.modules.loss.margin import PairwiseDistance as PairwiseDistance
from whygrad.nn.modules.loss.margin import SoftMarginLoss as SoftMarginLoss
from whygrad.nn.modules.loss.margin import TripletMarginLoss as TripletMarginLoss
from whygrad.nn.modules.loss.margin import (
    TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss,
)

__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "LinearCrossEntropyOptions",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PairwiseDistance",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]
