"""«module_test»"""

import math

from value import Value


def slope(function, at):
    """«slope»"""
    x = Value(at)
    function(x).backward()
    return x.grad


def test_diamond():
    a, b, c = Value(2.0), Value(3.0), Value(4.0)
    loss = (a * b + c) * (a - c)
    loss.backward()
    assert (a.grad, b.grad, c.grad) == (4.0, -4.0, -12.0)


def test_order_of_the_walk():
    """«test_order»"""
    x = Value(3.0)
    y = x * x
    z = y + y * x
    z.backward()
    assert x.grad == 2 * 3 + 3 * 3**2


def test_every_operation_adds_to_what_is_there():
    """«test_every»"""
    assert slope(lambda x: (x + 5) * x, 2.0) == 9.0
    assert slope(lambda x: (5 + x) * x, 2.0) == 9.0
    assert slope(lambda x: (Value(5) + x) * x, 2.0) == 9.0
    assert slope(lambda x: (x * 5) * x, 2.0) == 20.0
    assert slope(lambda x: (Value(5) * x) * x, 2.0) == 20.0
    assert slope(lambda x: x**3 * x, 2.0) == 32.0
    assert slope(lambda x: x.relu() * x, 2.0) == 4.0
    assert math.isclose(slope(lambda x: x.exp() * x, 1.0), 2 * math.e)
    assert math.isclose(slope(lambda x: x.log() * x, 2.0), math.log(2) + 1)
    t = math.tanh(0.5)
    assert math.isclose(slope(lambda x: x.tanh() * x, 0.5), (1 - t * t) * 0.5 + t)
    s = 1 / (1 + math.exp(-0.5))
    assert math.isclose(slope(lambda x: x.sigmoid() * x, 0.5), s * (1 - s) * 0.5 + s)
