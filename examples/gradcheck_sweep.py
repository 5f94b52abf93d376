"""How good is a finite difference?  Measure it for steps from 1e-1 to 1e-12 and draw the U.

A large step sees the curvature of the function, a small one loses digits in the subtraction.
Writing the picture needs matplotlib: pip install 'whygrad[plot]'.
"""

import whygrad as wg
from whygrad.autograd import gradcheck_sweep

wg.manual_seed(0)
x = wg.randn(5, dtype=wg.float64).requires_grad_()


def function(x):
    return wg.tanh(x) * wg.exp(-x * x)


sweep = gradcheck_sweep(function, x)
print(sweep)
print(f"\nat step 1e-04: central {sweep.digits('central', 1e-4):.0f} correct digits, ", end="")
print(f"forward {sweep.digits('forward', 1e-4):.0f}")
print(f"curves written to {sweep.draw('gradcheck_sweep.svg')}")
