"""Sparse layouts: COO and CSR."""

from __future__ import annotations
