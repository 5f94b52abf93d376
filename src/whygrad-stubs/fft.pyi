# Written by scripts/stubs.py: run `make stubs` instead of editing.
from whygrad.ops.public.fft import *
