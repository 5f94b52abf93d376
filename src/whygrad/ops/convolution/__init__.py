"""Windows that slide over images and signals: convolution and pooling."""

from whygrad.ops.convolution import conv, products  # noqa: F401  (each declares its ops)
