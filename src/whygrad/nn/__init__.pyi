"""Neural networks: modules, layers, losses, and the functions they are made of."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.nn import attention as attention
from whygrad.nn import common_types as common_types
from whygrad.nn import functional as functional
from whygrad.nn import grad as grad
from whygrad.nn import init as init
from whygrad.nn import modules as modules
from whygrad.nn import parallel as parallel
from whygrad.nn import parameter as parameter
from whygrad.nn import utils as utils
from whygrad.nn.factory import factory_kwargs as factory_kwargs
from whygrad.nn.modules.activation.activation import CELU as CELU
from whygrad.nn.modules.activation.activation import ELU as ELU
from whygrad.nn.modules.activation.activation import GELU as GELU
from whygrad.nn.modules.activation.activation import GLU as GLU
from whygrad.nn.modules.activation.activation import SELU as SELU
from whygrad.nn.modules.activation.activation import Hardshrink as Hardshrink
from whygrad.nn.modules.activation.activation import Hardsigmoid as Hardsigmoid
from whygrad.nn.modules.activation.activation import Hardswish as Hardswish
from whygrad.nn.modules.activation.activation import Hardtanh as Hardtanh
from whygrad.nn.modules.activation.activation import LeakyReLU as LeakyReLU
from whygrad.nn.modules.activation.activation import LogSigmoid as LogSigmoid
from whygrad.nn.modules.activation.activation import LogSoftmax as LogSoftmax
from whygrad.nn.modules.activation.activation import Mish as Mish
from whygrad.nn.modules.activation.activation import PReLU as PReLU
from whygrad.nn.modules.activation.activation import ReLU as ReLU
from whygrad.nn.modules.activation.activation import ReLU6 as ReLU6
from whygrad.nn.modules.activation.activation import RReLU as RReLU
from whygrad.nn.modules.activation.activation import Sigmoid as Sigmoid
from whygrad.nn.modules.activation.activation import SiLU as SiLU
from whygrad.nn.modules.activation.activation import Softmax as Softmax
from whygrad.nn.modules.activation.activation import Softmax2d as Softmax2d
from whygrad.nn.modules.activation.activation import Softmin as Softmin
from whygrad.nn.modules.activation.activation import Softplus as Softplus
from whygrad.nn.modules.activation.activation import Softshrink as Softshrink
from whygrad.nn.modules.activation.activation import Softsign as Softsign
from whygrad.nn.modules.activation.activation import Tanh as Tanh
from whygrad.nn.modules.activation.activation import Tanhshrink as Tanhshrink
from whygrad.nn.modules.activation.activation import Threshold as Threshold
from whygrad.nn.modules.activation.attention import MultiheadAttention as MultiheadAttention
from whygrad.nn.modules.batchnorm import BatchNorm1d as BatchNorm1d
from whygrad.nn.modules.batchnorm import BatchNorm2d as BatchNorm2d
from whygrad.nn.modules.batchnorm import BatchNorm3d as BatchNorm3d
from whygrad.nn.modules.batchnorm import InstanceNorm1d as InstanceNorm1d
from whygrad.nn.modules.batchnorm import InstanceNorm2d as InstanceNorm2d
from whygrad.nn.modules.batchnorm import InstanceNorm3d as InstanceNorm3d
from whygrad.nn.modules.batchnorm import LazyBatchNorm1d as LazyBatchNorm1d
from whygrad.nn.modules.batchnorm import LazyBatchNorm2d as LazyBatchNorm2d
from whygrad.nn.modules.batchnorm import LazyBatchNorm3d as LazyBatchNorm3d
from whygrad.nn.modules.batchnorm import LazyInstanceNorm1d as LazyInstanceNorm1d
from whygrad.nn.modules.batchnorm import LazyInstanceNorm2d as LazyInstanceNorm2d
from whygrad.nn.modules.batchnorm import LazyInstanceNorm3d as LazyInstanceNorm3d
from whygrad.nn.modules.batchnorm import SyncBatchNorm as SyncBatchNorm
from whygrad.nn.modules.container import Container as Container
from whygrad.nn.modules.container import ModuleDict as ModuleDict
from whygrad.nn.modules.container import ModuleList as ModuleList
from whygrad.nn.modules.container import ParameterDict as ParameterDict
from whygrad.nn.modules.container import ParameterList as ParameterList
from whygrad.nn.modules.container import Sequential as Sequential
from whygrad.nn.modules.conv.convolution import Conv1d as Conv1d
from whygrad.nn.modules.conv.convolution import Conv2d as Conv2d
from whygrad.nn.modules.conv.convolution import Conv3d as Conv3d
from whygrad.nn.modules.conv.convolution import ConvTranspose1d as ConvTranspose1d
from whygrad.nn.modules.conv.convolution import ConvTranspose2d as ConvTranspose2d
from whygrad.nn.modules.conv.convolution import ConvTranspose3d as ConvTranspose3d
from whygrad.nn.modules.conv.lazy import LazyConv1d as LazyConv1d
from whygrad.nn.modules.conv.lazy import LazyConv2d as LazyConv2d
from whygrad.nn.modules.conv.lazy import LazyConv3d as LazyConv3d
from whygrad.nn.modules.conv.lazy import LazyConvTranspose1d as LazyConvTranspose1d
from whygrad.nn.modules.conv.lazy import LazyConvTranspose2d as LazyConvTranspose2d
from whygrad.nn.modules.conv.lazy import LazyConvTranspose3d as LazyConvTranspose3d
from whygrad.nn.modules.dropout import AlphaDropout as AlphaDropout
from whygrad.nn.modules.dropout import Dropout as Dropout
from whygrad.nn.modules.dropout import Dropout1d as Dropout1d
from whygrad.nn.modules.dropout import Dropout2d as Dropout2d
from whygrad.nn.modules.dropout import Dropout3d as Dropout3d
from whygrad.nn.modules.dropout import FeatureAlphaDropout as FeatureAlphaDropout
from whygrad.nn.modules.linear import Bilinear as Bilinear
from whygrad.nn.modules.linear import Identity as Identity
from whygrad.nn.modules.linear import LazyLinear as LazyLinear
from whygrad.nn.modules.linear import Linear as Linear
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
from whygrad.nn.modules.module.module import Module as Module
from whygrad.nn.modules.normalization import CrossMapLRN2d as CrossMapLRN2d
from whygrad.nn.modules.normalization import GroupNorm as GroupNorm
from whygrad.nn.modules.normalization import LayerNorm as LayerNorm
from whygrad.nn.modules.normalization import LocalResponseNorm as LocalResponseNorm
from whygrad.nn.modules.normalization import RMSNorm as RMSNorm
from whygrad.nn.modules.padding import CircularPad1d as CircularPad1d
from whygrad.nn.modules.padding import CircularPad2d as CircularPad2d
from whygrad.nn.modules.padding import CircularPad3d as CircularPad3d
from whygrad.nn.modules.padding import ConstantPad1d as ConstantPad1d
from whygrad.nn.modules.padding import ConstantPad2d as ConstantPad2d
from whygrad.nn.modules.padding import ConstantPad3d as ConstantPad3d
from whygrad.nn.modules.padding import ReflectionPad1d as ReflectionPad1d
from whygrad.nn.modules.padding import ReflectionPad2d as ReflectionPad2d
from whygrad.nn.modules.padding import ReflectionPad3d as ReflectionPad3d
from whygrad.nn.modules.padding import ReplicationPad1d as ReplicationPad1d
from whygrad.nn.modules.padding import ReplicationPad2d as ReplicationPad2d
from whygrad.nn.modules.padding import ReplicationPad3d as ReplicationPad3d
from whygrad.nn.modules.padding import ZeroPad1d as ZeroPad1d
from whygrad.nn.modules.padding import ZeroPad2d as ZeroPad2d
from whygrad.nn.modules.padding import ZeroPad3d as ZeroPad3d
from whygrad.nn.modules.pooling.fold import Fold as Fold
from whygrad.nn.modules.pooling.fold import Unfold as Unfold
from whygrad.nn.modules.pooling.unpooling import FractionalMaxPool2d as FractionalMaxPool2d
from whygrad.nn.modules.pooling.unpooling import FractionalMaxPool3d as FractionalMaxPool3d
from whygrad.nn.modules.pooling.unpooling import LPPool1d as LPPool1d
from whygrad.nn.modules.pooling.unpooling import LPPool2d as LPPool2d
from whygrad.nn.modules.pooling.unpooling import LPPool3d as LPPool3d
from whygrad.nn.modules.pooling.unpooling import MaxUnpool1d as MaxUnpool1d
from whygrad.nn.modules.pooling.unpooling import MaxUnpool2d as MaxUnpool2d
from whygrad.nn.modules.pooling.unpooling import MaxUnpool3d as MaxUnpool3d
from whygrad.nn.modules.pooling.windows import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from whygrad.nn.modules.pooling.windows import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from whygrad.nn.modules.pooling.windows import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from whygrad.nn.modules.pooling.windows import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from whygrad.nn.modules.pooling.windows import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from whygrad.nn.modules.pooling.windows import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from whygrad.nn.modules.pooling.windows import AvgPool1d as AvgPool1d
from whygrad.nn.modules.pooling.windows import AvgPool2d as AvgPool2d
from whygrad.nn.modules.pooling.windows import AvgPool3d as AvgPool3d
from whygrad.nn.modules.pooling.windows import MaxPool1d as MaxPool1d
from whygrad.nn.modules.pooling.windows import MaxPool2d as MaxPool2d
from whygrad.nn.modules.pooling.windows import MaxPool3d as MaxPool3d
from whygrad.nn.modules.rnn.base import RNNBase as RNNBase
from whygrad.nn.modules.rnn.cells import GRUCell as GRUCell
from whygrad.nn.modules.rnn.cells import LSTMCell as LSTMCell
from whygrad.nn.modules.rnn.cells import RNNCell as RNNCell
from whygrad.nn.modules.rnn.cells import RNNCellBase as RNNCellBase
from whygrad.nn.modules.rnn.networks import GRU as GRU
from whygrad.nn.modules.rnn.networks import LSTM as LSTM
from whygrad.nn.modules.rnn.networks import RNN as RNN
from whygrad.nn.modules.shape import ChannelShuffle as ChannelShuffle
from whygrad.nn.modules.shape import Flatten as Flatten
from whygrad.nn.modules.shape import PixelShuffle as PixelShuffle
from whygrad.nn.modules.shape import PixelUnshuffle as PixelUnshuffle
from whygrad.nn.modules.shape import Unflatten as Unflatten
from whygrad.nn.modules.sparse.embedding import Embedding as Embedding
from whygrad.nn.modules.sparse.embedding_bag import EmbeddingBag as EmbeddingBag
from whygrad.nn.modules.transformer import Transformer as Transformer
from whygrad.nn.modules.transformer import TransformerDecoder as TransformerDecoder
from whygrad.nn.modules.transformer import TransformerDecoderLayer as TransformerDecoderLayer
from whygrad.nn.modules.transformer import TransformerEncoder as TransformerEncoder
from whygrad.nn.modules.transformer import TransformerEncoderLayer as TransformerEncoderLayer
from whygrad.nn.modules.upsampling import Upsample as Upsample
from whygrad.nn.modules.upsampling import UpsamplingBilinear2d as UpsamplingBilinear2d
from whygrad.nn.modules.upsampling import UpsamplingNearest2d as UpsamplingNearest2d
from whygrad.nn.parallel.data_parallel import DataParallel as DataParallel
from whygrad.nn.parameter import Buffer as Buffer
from whygrad.nn.parameter import Parameter as Parameter
from whygrad.nn.parameter import UninitializedBuffer as UninitializedBuffer
from whygrad.nn.parameter import UninitializedParameter as UninitializedParameter

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "RNN",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "CTCLoss",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Container",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "CrossMapLRN2d",
    "DataParallel",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTMCell",
    "LayerNorm",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "LeakyReLU",
    "Linear",
    "LinearCrossEntropyLoss",
    "LinearCrossEntropyOptions",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "NLLLoss2d",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "RMSNorm",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "SyncBatchNorm",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "UninitializedBuffer",
    "UninitializedParameter",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "attention",
    "common_types",
    "factory_kwargs",
    "functional",
    "grad",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
]
