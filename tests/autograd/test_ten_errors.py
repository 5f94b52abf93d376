"""Ten errors people meet, each with its whole text.

docs/errors.md shows them beside what PyTorch says about the same program.
"""

from __future__ import annotations

import pytest

from tests.autograd.programs import error_of

# By what went wrong: the program after ``import whygrad``, and the text of its error, whose long
# lines are wrapped here.
ERRORS = {
    "a saved value was overwritten": (
        """
        w = whygrad.tensor([1.0, 2.0], requires_grad=True)
        hidden = w.exp()
        loss = (hidden * hidden).sum()
        hidden += 1
        loss.backward()
        """,
        """
        MulBackward saved 'a' at example.py:4: loss = (hidden * hidden).sum()
          cause: one of the variables needed for gradient computation has been modified by an
                 inplace operation: add_ wrote to this memory at example.py:5: hidden += 1 (saved
                 at version 0, now at version 1)
          fix:   use the out-of-place form of add_, or write to a clone()
        """,
    ),
    "a step between forward and a second backward": (
        """
        w = whygrad.tensor([1.0, 2.0], requires_grad=True)
        x = whygrad.tensor([3.0, 4.0], requires_grad=True)
        loss = (w * x).sum()
        loss.backward(retain_graph=True)
        with whygrad.no_grad():
            w.add_(w.grad, alpha=-0.1)
        loss.backward()
        """,
        """
        MulBackward saved 'a', which is a leaf (float32[2], since example.py:2: w =
            whygrad.tensor([1.0, 2.0], requires_grad=True)), at example.py:4: loss = (w * x).sum()
          cause: one of the variables needed for gradient computation has been modified by an
                 inplace operation: add_ wrote to this memory at example.py:7: w.add_(w.grad,
                 alpha=-0.1) (saved at version 0, now at version 1)
          fix:   write to it after the last backward() that needs the old value; to go back again
                 after a step, run the forward again instead of retaining the graph
        """,
    ),
    "the same graph twice": (
        """
        w = whygrad.tensor([1.0, 2.0], requires_grad=True)
        loss = (w * w).sum()
        loss.backward()
        loss.backward()
        """,
        """
        MulBackward needs the values it saved at example.py:3: loss = (w * w).sum()
          cause: trying to backward through the graph a second time: they were freed by the
                 backward() at example.py:4: loss.backward()
          fix:   pass retain_graph=True to that backward(), or add the losses and call backward()
                 once
        """,
    ),
    "NaN through where": (
        """
        x = whygrad.tensor([0.0, 4.0], requires_grad=True)
        with whygrad.autograd.detect_anomaly():
            y = whygrad.where(x > 0, x.sqrt(), 0.0)
            y.sum().backward()
        """,
        """
        SqrtBackward of example.py:4: y = whygrad.where(x > 0, x.sqrt(), 0.0)
          cause: Function 'SqrtBackward0' returned nan values in its 0th output. It made them out
                 of finite numbers, in 1 of 2 elements
          here:  [0] incoming 0 · derivative inf at y = 0 → nan
          rule:  y = √x;  ∂y/∂x = 1/(2y)
          why:   the slope of a square root is infinite at 0
                 where does not choose `x.sqrt()` there and sends 0 back: example.py:4: y =
                        whygrad.where(x > 0, x.sqrt(), 0.0)
          then:  it reached the gradient of the leaf float32[2] made at example.py:2: x =
                 whygrad.tensor([0.0, 4.0], requires_grad=True)
          fix:   choose before the op as well (double where): write whygrad.where(x > 0, x,
                 1.0).sqrt() in place of x.sqrt()
          at:    example.py:5: y.sum().backward()
        """,
    ),
    "sqrt at 0, composed twice": (
        """
        x = whygrad.tensor([0.0, 4.0], requires_grad=True)
        with whygrad.autograd.detect_anomaly():
            root = x.sqrt()
            fourth_root = root.sqrt()
            fourth_root.sum().backward()
        """,
        """
        SqrtBackward of example.py:5: fourth_root = root.sqrt()
          cause: Function 'SqrtBackward0' returned inf values in its 0th output. It made them out
                 of finite numbers, in 1 of 2 elements
          here:  [0] incoming 1 · derivative inf at y = 0 → inf
          rule:  y = √x;  ∂y/∂x = 1/(2y)
          why:   the slope of a square root is infinite at 0
          then:  it reached the gradient of the leaf float32[2] made at example.py:2: x =
                 whygrad.tensor([0.0, 4.0], requires_grad=True)
          fix:   keep the argument away from 0: (x + 1e-12).sqrt(); the length of a vector is
                 x.norm(), whose gradient at 0 is 0
          at:    example.py:6: fourth_root.sum().backward()
        """,
    ),
    "log of a negative number": (
        """
        x = whygrad.tensor([-1.0, 4.0], requires_grad=True)
        with whygrad.autograd.detect_anomaly():
            likelihood = x.log()
            loss = -likelihood.mean()
            loss.backward()
        """,
        """
        log(x: float32[2]) at example.py:4: likelihood = x.log()
          cause: log made nan out of finite numbers, in 1 of 2 elements
          here:  [0] x = −1 → nan
          rule:  y = ln x;  ∂y/∂x = 1/x
          why:   a negative number has no real logarithm
          then:  it reached the loss, float32[]
          fix:   keep the argument positive: log(x.clamp(min=1e-8)), or ask why it is negative
          at:    example.py:6: loss.backward()
        """,
    ),
    "a norm at 0, written out": (
        """
        def length(v):
            return (v * v).sum().sqrt()

        v = whygrad.zeros(3, requires_grad=True)
        with whygrad.autograd.detect_anomaly():
            length(v).backward()
        """,
        """
        SqrtBackward of example.py:3: return (v * v).sum().sqrt()
          cause: Function 'SqrtBackward0' returned inf values in its 0th output. It made them out
                 of finite numbers, in 1 of 1 elements
          here:  incoming 1 · derivative inf at y = 0 → inf
          rule:  y = √x;  ∂y/∂x = 1/(2y)
          why:   the slope of a square root is infinite at 0
          then:  Function 'MulBackward0' returned nan values in its 0th output, of example.py:3:
                 return (v * v).sum().sqrt()
                 [0] incoming inf · derivative 0 at a = 0, b = 0 → nan
                 it reached the gradient of the leaf float32[3] made at example.py:5: v =
                        whygrad.zeros(3, requires_grad=True)
          fix:   keep the argument away from 0: (x + 1e-12).sqrt(); the length of a vector is
                 x.norm(), whose gradient at 0 is 0
          calls: example.py:7: length(v).backward()
                 example.py:3: return (v * v).sum().sqrt()
          at:    example.py:7: length(v).backward()
        """,
    ),
    "a wrong backward of a custom function": (
        """
        class Double(whygrad.autograd.Function):
            @staticmethod
            def forward(ctx, x, rows):
                return 2 * x.sum(0)

            @staticmethod
            def backward(ctx, incoming):
                return 2 * incoming, None

        x = whygrad.ones(3, 2, requires_grad=True)
        Double.apply(x, 3).sum().backward()
        """,
        """
        DoubleBackward, recorded at example.py:12: Double.apply(x, 3).sum().backward()
          cause: Function DoubleBackward returned an invalid gradient at index 0 - got [2] but
                 expected shape compatible with [3, 2], the shape of 'x'
          fix:   return one number per element of 'x'; broadcasting is undone for you, so a larger
                 shape that it broadcasts to is fine as well
          at:    example.py:8: def backward(ctx, incoming):
        """,
    ),
    "no gradient after detach": (
        """
        w = whygrad.tensor([1.0, 2.0], requires_grad=True)
        hidden = (w * 2).detach()
        loss = (hidden * hidden).sum()
        loss.backward()
        """,
        """
        backward() of float32[]
          cause: it does not require grad and does not have a grad_fn: it was cut off by
                 detach() at example.py:3: hidden = (w * 2).detach()
          fix:   call requires_grad_() on the inputs you want gradients for, and leave out the
                 detach() or no_grad() between them and this tensor
          at:    example.py:5: loss.backward()
        """,
    ),
    "a leaf changed in place": (
        """
        w = whygrad.tensor([1.0, 2.0], requires_grad=True)
        w -= 0.1
        """,
        """
        sub_ on float32[2] at example.py:3: w -= 0.1
          cause: a leaf Variable that requires grad is being used in an in-place operation; it
                 became a leaf by requires_grad at example.py:2: w = whygrad.tensor([1.0, 2.0],
                 requires_grad=True), and its gradient belongs to the value it had
          fix:   write inside `with whygrad.no_grad():`, or use the out-of-place form
        """,
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_text(name: str) -> None:
    program, expected = ERRORS[name]
    assert error_of(program).split() == expected.split()
