"""Attention: every query mixes the values of the keys it resembles."""

from whygrad.ops.attention import attention  # noqa: F401  (declares its ops)
