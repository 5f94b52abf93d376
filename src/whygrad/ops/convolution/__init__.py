"""Windows that slide over images and signals: convolution and pooling."""

from whygrad.ops.convolution import (  # noqa: F401  (each declares its ops)
    adaptive,
    avg_pool,
    conv,
    max_pool,
    patches,
    products,
)
