"""The steps of recurrent networks."""

from whygrad.ops.recurrent import gates  # noqa: F401  (declares its ops)
