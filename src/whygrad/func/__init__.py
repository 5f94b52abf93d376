"""Functions of functions, as in ``torch.func``."""

from whygrad.func.forward import hvp, jvp
from whygrad.func.jacobians import hessian, jacfwd, jacrev
from whygrad.func.modules import functional_call, stack_module_state
from whygrad.func.reverse import grad, grad_and_value, linearize, vjp
from whygrad.func.vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
