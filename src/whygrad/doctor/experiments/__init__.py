"""Experiments on a recorded run: what changes when one thing is mended, and what a control says."""
