# Written by scripts/stubs.py: run `make stubs` instead of editing.
from whygrad.distributions.multivariate.lowrank_multivariate_normal import *
