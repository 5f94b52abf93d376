"""«module»

«module_more»
"""

import math

REFUSED = "error at the write"  # «refused»
STOPPED = "error in backward"  # «stopped»


def program_1(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h * h
    h += 1
    y.backward()
    """
    # «because_1»
    return STOPPED


def program_2(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h + h
    h += 1
    y.backward()
    """
    # «because_2»
    return 2 * k


def program_3(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    y = x * k
    x += 1
    y.backward()
    """
    # «because_3»
    return REFUSED


def program_4(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    y = x * x
    with wg.no_grad():
        x -= k * x
    y.backward()
    """
    # «because_4»
    return STOPPED


def program_5(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h.exp()
    h += 1
    y.backward()
    """
    # «because_5»
    return k * math.exp(a * k)


def program_6(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h.exp()
    y += 1
    y.backward()
    """
    # «because_6»
    return STOPPED


def program_7(a, b, k):
    """
    x = wg.tensor([a, b], requires_grad=True)
    h = x * k
    h[0].copy_(x[1])
    y = (h * h).sum()
    y.backward()
    """
    # «because_7»
    return [0, 2 * b + 2 * k**2 * b]


def program_8(a, b, k):
    """
    x = wg.tensor([a, b], requires_grad=True)
    h = x * k
    y = (h[:1] * h[:1]).sum()
    h.detach()[1:].zero_()
    y.backward()
    """
    # «because_8»
    return STOPPED


def program_9(a, k, c):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    h.data.mul_(c)
    y = h * h
    y.backward()
    """
    # «because_9»
    return 2 * (c * k * a) * k


def program_10(a, k, c):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h * h
    h.data.mul_(c)
    y.backward()
    """
    # «because_10»
    return {"pytorch": 2 * (c * k * a) * k, "whygrad": STOPPED}


# «silent»
SILENT = ["program_9", "program_10"]
