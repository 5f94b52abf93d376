"""«module_test»"""

from value import Value


def test_one_path():
    x = Value(3.0)
    y = x * 2
    y.backward()
    assert x.grad == 2.0


# «todo_test»
