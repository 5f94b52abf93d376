"""Families of ops: what calls have in common, asked of the op table by any name of the op.

``call.op in CONVOLUTIONS`` holds for every convolution that the table declares, whichever engine
recorded the call and however it was spelled (``add``, ``add_``, ``__iadd__``).  Families follow the
folders of :mod:`whygrad.ops` and the fields of the rows, so a new op joins them by being declared.
Where a rule is about one op or a few that no field tells apart, they are named here and nowhere
else; names that the table does not have (``getitem``) are what the tapes call such a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING

from whygrad.ops.define import table
from whygrad.ops.spellings import row_of, spelled

if TYPE_CHECKING:
    from whygrad.ops.op import Op
    from whygrad.ops.undefined import Fault

__all__ = [
    "ABS", "ACTIVATIONS", "ADD", "ADDCMUL", "ADDED_PRODUCTS", "ATTENTION", "AVERAGE_POOLS",
    "BATCH_NORM", "BINARY_CROSS_ENTROPY", "BINARY_LOSSES", "BINARY_WITH_LOGITS", "BOUNDS",
    "BRACKETS", "BROADCAST_TENSORS", "CARRIERS", "CASTS", "CAT", "CHOICES", "CHOICE_LOSSES",
    "CLAMP", "CLAMPS", "CLASS_LOSSES", "COMPARISONS", "CONVOLUTIONS", "COS", "COSH",
    "COSINE_SIMILARITY", "CROSS_ENTROPY", "CUMPROD", "DETACHES", "DIAGONALS", "DIFFERENCES",
    "DISTANCE_LOSSES", "DIV", "DRAWS", "DROPOUTS", "EINSUM", "ELEMENTWISE", "ELEMENTWISE_LOSSES",
    "EMBEDDING", "EQUALITIES", "EXP", "EXPONENTIALS", "EXTREMES", "FILLS", "FLATTENING", "FLIP",
    "GATHERS",
    "GETITEM", "GUMBEL_SOFTMAX", "HARDSWISH", "HARDTANH", "HEAVISIDE", "INDEXED", "INDEX_SELECT",
    "INVERSES", "JOINS", "KL_DIV", "LARGER", "LEAKY_RELU", "LEAVING", "LERP", "LEVELLING",
    "LIKENESSES", "LIKES", "LINEAR", "LINEAR_LAYER", "LOG", "LOGARITHMS", "LOGS", "LOGSUMEXP",
    "LOG_PROBABILITIES", "LOG_SOFTMAX", "LOSSES", "LOWER_CLAMPS", "MAKERS", "MARGIN_RANKING",
    "MASKED_FILL",
    "MASKED_SELECT", "MATRIX_PRODUCTS", "MAXIMUM", "MEAN", "MODELLED", "MSE_LOSS", "MUL",
    "MULTI_HEAD", "NEG",
    "NEVER_NEGATIVE", "NLL_LOSS", "NOISE", "NORM", "NORMAL", "NORMALIZE", "NORMALIZERS", "ONE_HOT",
    "ORDERINGS", "PICKS",
    "PLAIN_SEQUENCES", "POISSON_NLL_LOSS", "POSITIONS", "POWERS", "PRELU", "PROBABILITIES",
    "PROBABILITY_LOSSES", "PROD", "PRODUCTS", "QUOTIENTS", "RANDOM", "RANKED", "RECTIFIERS",
    "RECURRENT", "RELU", "RELU6", "REORDERINGS", "RESHAPES", "RESHAPING", "RESTRIDED",
    "REVERSED_DIV",
    "REVERSED_POW", "REVERSED_SUB", "RISKY", "ROW_MIXING", "SAMPLE_NORMALIZERS", "SATURATING",
    "SCALINGS", "SCATTERS", "SEQUENCES", "SETITEM", "SHIFTS", "SHRINKS", "SIGMOID", "SIGMOIDS",
    "SIGNED_LOSSES", "SMALLER", "SOFTMAX", "SOFTMAXES", "SOFTPLUS", "SORT", "SOUNDNESS", "SPLITS",
    "SPREADS", "SQRT", "SQUASHERS", "STACK", "STEPS", "SUB", "SUM", "TANH_STATES", "THRESHOLD",
    "TOPK", "TOTALS", "TRANSPOSED_CONVOLUTIONS", "TRANSPOSES", "TRIANGLES", "TRIPLETS", "TWO_SIDED",
    "UNEQUAL",
    "UNFOLD", "VIEWS", "WEIGHTED", "WHERE", "WHOLE_QUOTIENT", "WRITES", "XLOGY", "Family",
]  # fmt: skip


class Family:
    """A set of ops, by any of their names."""

    def __init__(self, holds: Callable[[str], bool]) -> None:
        self._holds = holds
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._holds(name)
        return known

    def __or__(self, other: Family) -> Family:
        return _union(self, other)

    def __sub__(self, other: Family) -> Family:
        return Family(lambda name: name in self and name not in other)

    def any_of(self, names: Iterable[str]) -> bool:
        """Whether one of these is among them."""
        return any(name in self for name in names)


@cache  # ``op in ADD | SUB`` may be asked of every call of a step
def _union(one: Family, other: Family) -> Family:
    return Family(lambda name: name in one or name in other)


def _named(*names: str) -> Family:
    """These ops, and whatever is another spelling of one of them."""

    def holds(name: str) -> bool:
        spelling = spelled(name)
        return name in names or (spelling.op in names and not spelling.reflected)

    return Family(holds)


def _declared(*modules: str) -> Family:
    """What a folder or a file of :mod:`whygrad.ops` declares."""

    def holds(name: str) -> bool:
        home = table.home(spelled(name).op)
        return home is not None and any(f"{home}.".startswith(f"{each}.") for each in modules)

    return Family(holds)


def _rows(fits: Callable[[Op], bool]) -> Family:
    """What the row of an op says."""

    def holds(name: str) -> bool:
        row = row_of(name)
        return row is not None and fits(row)

    return Family(holds)


# --- arithmetic -----------------------------------------------------------------------------------

ELEMENTWISE = _rows(lambda row: row.kind == "elementwise") | _named(
    "clamp_max", "clamp_min", "masked_fill", "positive", "relu6", "square", "tanhshrink"
)
ADD, SUB, MUL, DIV = _named("add"), _named("sub"), _named("mul"), _named("div")
REVERSED_SUB, REVERSED_DIV, REVERSED_POW = _named("rsub"), _named("rdiv"), _named("rpow")
DIFFERENCES = SUB | REVERSED_SUB
SHIFTS = ADD | DIFFERENCES
SCALINGS = MUL | DIV
NEG, ABS = _named("neg"), _named("abs")
POWERS = _named("pow", "square")
NORM, SQRT = _named("norm"), _named("sqrt")
CLAMP = _named("clamp")
LOWER_CLAMPS = CLAMP | _named("clamp_min")
CLAMPS = LOWER_CLAMPS | _named("clamp_max")
INVERSES = _named("reciprocal", "rdiv")  # of the one tensor they are given
STEPS = _named("ceil", "floor", "round", "sgn", "sign", "trunc")  # constant between jumps
HEAVISIDE, WHOLE_QUOTIENT = _named("heaviside"), _named("floor_divide")
COS, LERP, ADDCMUL = _named("cos"), _named("lerp"), _named("addcmul")
ORDERINGS = _named("ge", "gt", "le", "lt")
EQUALITIES, UNEQUAL = _named("eq", "ne"), _named("ne")
COMPARISONS = _declared("comparison")
SOUNDNESS = _named("isfinite", "isinf", "isnan", "nan_to_num")  # asks whether values are finite
MAXIMUM = _named("maximum")
BOUNDS = MAXIMUM | _named("minimum")
LARGER, SMALLER = _named("fmax", "maximum"), _named("fmin", "minimum")
POSITIONS = _named("argmax", "argmin")
EXTREMES = _named("amax", "amin", "max", "min", "max_of_all", "min_of_all")
# What passes on some of its values, chosen by their size.
RANKED = _named(
    "adaptive_max_pool2d", "cummax", "cummin", "kthvalue", "max_pool", "max_pool2d_with_indices",
    "max_pool3d_with_indices", "median", "mode", "nanmedian", "scatter_amax", "scatter_amin",
    "topk",
)  # fmt: skip

# --- what is undefined somewhere ------------------------------------------------------------------


def _faulty(*faults: Fault) -> Family:
    return _rows(lambda row: any(case.fault in faults for case in row.undefined))


RISKY = _faulty("log", "division", "root", "overflow")  # no finite value or slope somewhere
LOGS = _faulty("log")
EXPONENTIALS = _faulty("overflow") | _named("rpow")
QUOTIENTS = DIV | INVERSES

# --- logarithms and exponentials ------------------------------------------------------------------

EXP, LOG = _named("exp"), _named("log")
LOGSUMEXP = _named("logsumexp")
LOG1P, EXP2, HYPERBOLIC = _named("log1p"), _named("exp2"), _named("cosh", "sinh")
LOGARITHMS = LOG | LOG1P
XLOGY, COSH = _named("xlogy"), _named("cosh")
LOG_PROBABILITIES = _named("log_softmax", "logsigmoid")

# --- activations ----------------------------------------------------------------------------------

SOFTMAXES = _declared("activation.softmax") | _named("gumbel_softmax")
SOFTMAX, LOG_SOFTMAX = _named("softmax"), _named("log_softmax")
GUMBEL_SOFTMAX = _named("gumbel_softmax")
PROBABILITIES = SOFTMAXES - LOG_SOFTMAX
DROPOUTS = _declared("activation.dropout") | _named("fused_dropout")
ACTIVATIONS = (_declared("activation") | _named("sigmoid", "tanh")) - SOFTMAXES - DROPOUTS
RELU, HARDTANH, SOFTPLUS = _named("relu"), _named("hardtanh"), _named("softplus")
RELU6, LEAKY_RELU, PRELU = _named("relu6"), _named("leaky_relu"), _named("prelu")
THRESHOLD, HARDSWISH = _named("threshold"), _named("hardswish")
SHRINKS = _named("hardshrink", "softshrink")
RECTIFIERS = _named("relu", "relu6", "threshold", "hardtanh")
SIGMOID = _named("sigmoid")
SIGMOIDS = SIGMOID | _named("hardsigmoid")
SQUASHERS = SIGMOIDS | _named("hardtanh", "softsign", "tanh")  # flat at both ends
TWO_SIDED = SQUASHERS - SIGMOIDS
SATURATING = _named("sigmoid", "tanh")  # never quite flat: how far out the input is can be told
LEVELLING = _named(  # no activations, and flat far out all the same
    "atan", "erf", "erfc", "exp", "exp2", "expm1", "logaddexp", "logcumsumexp", "logsumexp"
)
NEVER_NEGATIVE = _named("relu", "relu6", "softplus", "threshold")

# --- layers ---------------------------------------------------------------------------------------

CONVOLUTIONS = _declared("convolution.conv", "convolution.products", "convolution.time_first")
TRANSPOSED_CONVOLUTIONS = _named(
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution_transpose"
)
MATRIX_PRODUCTS = _named("addbmm", "addmm", "baddbmm", "bmm", "matmul", "mm", "mv")
EINSUM = _named("einsum")
# Sums of products: the gradient of one factor is the incoming gradient times the other.
PRODUCTS = _declared("products")
ADDED_PRODUCTS = _named("addbmm", "addmm", "baddbmm")  # the bias comes first
LINEAR_LAYER = _named("linear")
WEIGHTED = CONVOLUTIONS | LINEAR_LAYER  # x, weight, bias
LINEAR = WEIGHTED | MATRIX_PRODUCTS | _named("bilinear")
NORMALIZE = _named("normalize")  # to length 1 along an axis
NORMALIZERS = _declared("normalization") - NORMALIZE - _named("local_response_norm")
BATCH_NORM = _named("batch_norm")
SAMPLE_NORMALIZERS = NORMALIZERS - BATCH_NORM
EMBEDDING = _named("embedding")
MULTI_HEAD = _named("multi_head_attention_forward")  # True in its masks: hidden
ATTENTION = _declared("attention") | MULTI_HEAD
RECURRENT = _declared("recurrent.networks")
SEQUENCES = _named("gru", "lstm", "rnn_relu", "rnn_tanh")  # a whole sequence in one call
TANH_STATES = _named(  # their first result, the state, lies within −1 and 1
    "gru", "gru_cell", "gru_step", "lstm", "lstm_cell", "lstm_step", "rnn_tanh", "rnn_tanh_cell"
)
PLAIN_SEQUENCES = _named("rnn_relu", "rnn_tanh")  # that apply one weight again and again
AVERAGE_POOLS = _declared("convolution.avg_pool") | _named(
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"
)
DRAWS = _named("bernoulli", "multinomial", "poisson")  # samples of a model's own distribution
NORMAL = _named("normal")
NOISE = NORMAL | _named(
    "normal_", "rand", "rand_like", "randn", "randn_like", "uniform_"
)  # drawn anew
RANDOM = DROPOUTS | ATTENTION | SEQUENCES | DRAWS | _declared("activation.noisy") | _named(
    "cauchy_", "exponential_", "geometric_", "log_normal_", "normal", "normal_", "rand_like",
    "randint_like", "randn_like", "random_", "uniform_",
)  # fmt: skip

# --- losses ---------------------------------------------------------------------------------------

COSINE_SIMILARITY = _named("cosine_similarity")
LIKENESSES = COSINE_SIMILARITY | _named("cdist", "pairwise_distance")
LOSSES = _declared("loss") - LIKENESSES - _rows(lambda row: row.internal)
CROSS_ENTROPY, NLL_LOSS, MSE_LOSS = (
    _named("cross_entropy"), _named("nll_loss"), _named("mse_loss"),
)  # fmt: skip
CLASS_LOSSES = CROSS_ENTROPY | NLL_LOSS  # targets are classes
CHOICE_LOSSES = CLASS_LOSSES | _named("multi_margin_loss", "multilabel_margin_loss")
BINARY_CROSS_ENTROPY = _named("binary_cross_entropy")
BINARY_WITH_LOGITS = _named("binary_cross_entropy_with_logits")
BINARY_LOSSES = BINARY_CROSS_ENTROPY | BINARY_WITH_LOGITS
SIGNED_LOSSES = _named(  # targets are −1 and 1
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "soft_margin_loss"
)
MARGIN_RANKING = _named("margin_ranking_loss")  # of two scores, which is to be the larger
TRIPLETS = _named("triplet_margin_loss", "triplet_margin_with_distance_loss")
DISTANCE_LOSSES = _declared("loss.differences")
KL_DIV, POISSON_NLL_LOSS = _named("kl_div"), _named("poisson_nll_loss")
PROBABILITY_LOSSES = NLL_LOSS | BINARY_CROSS_ENTROPY | KL_DIV  # what they take was normalised
ELEMENTWISE_LOSSES = DISTANCE_LOSSES | BINARY_LOSSES | KL_DIV | POISSON_NLL_LOSS | _named(
    "gaussian_nll_loss", "hinge_embedding_loss", "soft_margin_loss"
)  # fmt: skip

# --- shapes ---------------------------------------------------------------------------------------

CASTS = _named("cast", "move", "to", "type_as")
TRANSPOSES = _declared("shape.axes") - _named(
    "conj", "conj_physical", "imag", "imaginary_part", "real", "real_part"
)
# What passes values on, arranged differently.
RESHAPING = (
    (TRANSPOSES | CASTS | _declared("shape.reshaping", "shape.views"))
    - _named("broadcast_tensors", "view_dtype")
) | _named("atleast_1d", "atleast_2d", "atleast_3d", "positive", "requires_grad_", "restride")
BROADCAST_TENSORS = _named("broadcast_tensors")
SPLITS = _declared("shape.splitting")
UNFOLD = _named("unfold")
GETITEM, INDEX_SELECT = _named("getitem"), _named("index_select")
SETITEM = _named("setitem")
BRACKETS = _named("getitem", "index", "slice")  # x[…], and what it is made of
GATHERS = _named("gather", "gather_last", "take_along_dim")
INDEXED = GATHERS | INDEX_SELECT | GETITEM | _named("index", "index_last")  # by an array of numbers
SCATTERS = _declared("indexing.scatter") - GATHERS
DIAGONALS = _named("diag", "diagonal", "trace")
MASKED_SELECT, MASKED_FILL, WHERE = (
    _named("masked_select"), _named("masked_fill", "fill_diagonal_"), _named("where"),
)  # fmt: skip
PICKS = (_declared("shape.parts") - UNFOLD) | INDEXED | MASKED_SELECT
CHOICES = WHERE | MASKED_FILL
STACK, CAT = _named("stack"), _named("cat")
JOINS = STACK | CAT | _named(
    "column_stack", "concat", "concatenate", "dstack", "hstack", "vstack"
)  # fmt: skip
DETACHES = _named("detach")
RESTRIDED = _named("as_strided", "take")
WRITES = _named("assignment", "copy", "fill", "index_put", "scatter", "zero")
# What comes out is what went in, here or there.
CARRIERS = CAT | STACK | WHERE | _named("copy", "copy_slices", "fill", "index_put", "scatter")
# Results that are another name for memory of the first argument.
RESHAPES = _named("reshape", "reshape_as", "view", "view_as")  # to another shape, in one order
MODELLED = _named("expand_as", "reshape_as", "type_as", "view_as")  # of the second, no values
FLATTENING = _named("flatten", "ravel")
VIEWS = (
    _rows(lambda row: row.kind == "view")
    | TRANSPOSES
    | SPLITS
    | DETACHES
    | _declared("shape.parts", "shape.reshaping")
    | _named("broadcast_to", "expand_as", "getitem", "reshape")
)
SORT, FLIP = _named("sort"), _named("flip")
TOPK = _named("topk")
REORDERINGS = SORT | FLIP | _named("roll")
ONE_HOT = _named("one_hot")
TRIANGLES = _named("tril", "triu")
FILLS = _named("fill", "full_like")
LIKES = _named("ones_like", "zeros_like")
MAKERS = _named(
    "arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "randperm",
    "tensor", "zeros",
)  # fmt: skip
# What takes rows to other places, or no longer has the rows of what it was given.
ROW_MIXING = (
    TRANSPOSES | (JOINS - STACK) | GATHERS | SCATTERS | UNFOLD | MASKED_SELECT | EMBEDDING
    | CONVOLUTIONS | _declared("fourier")
    | _named(
        "argsort", "argwhere", "broadcast_to", "cartesian_prod", "cdist", "combinations", "cov",
        "expand", "meshgrid", "nonzero", "repeat", "repeat_interleave", "rot90", "tile", "topk",
        "unique", "unique_consecutive",
    )
)  # fmt: skip

# --- reductions -----------------------------------------------------------------------------------

SUM, MEAN = _named("nansum", "sum"), _named("mean", "nanmean")
TOTALS = SUM | MEAN
PROD, CUMPROD = _named("prod"), _named("cumprod")
SPREADS = _named("std", "std_mean", "var", "var_mean")

# Steps by which values leave the engine.
LEAVING = _named("array", "bool", "complex", "dlpack", "float", "index", "int", "item", "numpy",
                 "tolist")  # fmt: skip
