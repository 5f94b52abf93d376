# Written by scripts/stubs.py: run `make stubs` instead of editing.
from whygrad.distributions.multivariate.lkj_cholesky import *
