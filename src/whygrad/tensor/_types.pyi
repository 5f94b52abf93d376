"""Words for the annotations in the generated stubs; they exist for type checkers only."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from whygrad.tensor import Tensor
from whygrad.tensor.devices import Device
from whygrad.tensor.dtypes import DType

Number: TypeAlias = bool | int | float | complex
Operand: TypeAlias = Tensor | Number | np.generic | np.ndarray[Any, Any]
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = DType | np.dtype[Any] | type | str
DeviceLike: TypeAlias = Device | str
