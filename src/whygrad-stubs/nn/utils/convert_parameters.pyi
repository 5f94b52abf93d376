# Written by scripts/stubs.py: run `make stubs` instead of editing.
from whygrad.nn.utils.vectors import *
