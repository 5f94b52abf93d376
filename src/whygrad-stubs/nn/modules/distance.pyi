# Written by scripts/stubs.py: run `make stubs` instead of editing.
from whygrad.nn.modules.loss.margin import *
