# Written by scripts/stubs.py: run `make stubs` instead of editing.
from whygrad.autograd.transforms.forward_ad import *
