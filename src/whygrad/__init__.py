"""whygrad: an autograd engine that can say why."""

from whygrad import autograd, dispatch, dtypes
from whygrad.autograd.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from whygrad.dtypes import get_default_dtype, set_default_dtype
from whygrad.ops import functions as _functions
from whygrad.ops.creation import from_numpy, tensor
from whygrad.tensor import Tensor

globals().update(_functions)
for _dtype in dtypes.ALL:
    globals()[_dtype.name] = _dtype
