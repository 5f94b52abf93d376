"""«module»"""

from whygrad import Value  # «own_value»


def log_sigmoid(x):
    """«log_sigmoid»"""
    raise NotImplementedError("log_sigmoid")


def centred_difference(f, x, epsilon=1e-5):
    """«centred_difference»"""
    raise NotImplementedError("centred_difference")


def backward_gradient(f, x):
    """«backward_gradient»"""
    raise NotImplementedError("backward_gradient")


def compare(f, points, epsilon=1e-5):
    """«compare»"""
    raise NotImplementedError("compare")


def each_input(f, inputs, epsilon=1e-5):
    """«each_input»"""
    raise NotImplementedError("each_input")


# «todo_worse»
WORSE = {"x": None, "epsilon": None, "error": None}


if __name__ == "__main__":
    # «playground»
    for row in compare(log_sigmoid, [-2.0, 0.5, 3.0]):
        print(row)
    for digits in range(1, 16):
        [row] = compare(log_sigmoid, [0.5], epsilon=10.0**-digits)
        print(f"epsilon 1e-{digits:02}  error {row['error']:.1e}")
