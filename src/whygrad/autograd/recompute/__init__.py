"""Checkpointing: saved values that are thrown away, and made again when backward asks for them.

:mod:`whygrad.utils.checkpoint` is the public face.
"""
