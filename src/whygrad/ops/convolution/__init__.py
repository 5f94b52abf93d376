"""Windows that slide over images and signals: convolution and pooling."""

from whygrad.ops.convolution import (
    adaptive,
    avg_pool,
    conv,
    max_pool,
    patches,
    products,
)
