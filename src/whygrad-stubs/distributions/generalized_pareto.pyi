# Written by scripts/stubs.py: run `make stubs` instead of editing.
from whygrad.distributions.positive.generalized_pareto import *
