"""Attention: every query mixes the values of the keys it resembles."""

from whygrad.ops.attention import dot_product
