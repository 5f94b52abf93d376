"""Gradients compared with finite differences."""
