# Written by scripts/stubs.py: run `make stubs` instead of editing.
from whygrad.data.shares import *
