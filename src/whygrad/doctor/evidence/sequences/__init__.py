"""Batches of sequences: which axis is which, and which places were filled up."""
