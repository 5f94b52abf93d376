"""«module»"""

import numpy as np

# «todo_shapes»
SHAPES = {
    "z1": None,
    "dL_dprediction": None,
    "dL_dW2": None,
    "dL_da1": None,
    "dL_dW1": None,
    "dL_dx": None,
    "a1 @ dL_dprediction.T": None,
}


def forward(W1, b1, W2, b2, x, target):
    """«forward»"""
    raise NotImplementedError("forward")


def backward(W1, b1, W2, b2, x, target):
    """«backward»"""
    raise NotImplementedError("backward")


def batch_forward(W1, b1, W2, b2, x, target):
    """«batch_forward»"""
    raise NotImplementedError("batch_forward")


def batch_backward(W1, b1, W2, b2, x, target):
    """«batch_backward»"""
    raise NotImplementedError("batch_backward")


if __name__ == "__main__":
    # «playground»
    np.random.seed(42)
    W1, b1 = np.random.randn(3, 2) * 0.1, np.zeros((3, 1))
    W2, b2 = np.random.randn(1, 3) * 0.1, np.zeros((1, 1))
    x, target = np.array([[1.0], [2.0]]), np.array([[1.0]])
    values = forward(W1, b1, W2, b2, x, target)
    print(f"prediction {values['prediction'].item():.6f}, loss {values['loss']:.6f}")
    for name, gradient in backward(W1, b1, W2, b2, x, target).items():
        print(f"{name:14} {gradient.shape}")
