"""A value that backward needs is overwritten: the error names both lines, and here is the fix."""

import whygrad as wg

w = wg.tensor([1.0, 2.0], requires_grad=True)


def careless():
    hidden = w.exp()
    loss = (hidden * hidden).sum()
    hidden += 1  # the product above still needs the old hidden
    return loss


def careful():
    hidden = w.exp()
    loss = (hidden * hidden).sum()
    hidden = hidden + 1  # a new tensor; what was saved stays as it was
    return loss


print("with hidden += 1:\n")
try:
    careless().backward()
except RuntimeError as error:
    print(error)
print(f"\nw.grad is {w.grad}: a backward that fails changes nothing")

careful().backward()
print("\nwith hidden = hidden + 1:\n")
print(f"w.grad  = {w.grad}")
print(f"2·e^2w  = {2 * (2 * w.detach()).exp()}")
