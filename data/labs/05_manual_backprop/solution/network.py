"""«module»"""

import numpy as np

# «todo_shapes»
SHAPES = {
    "z1": (3, 1),
    "dL_dprediction": (1, 1),
    "dL_dW2": (1, 3),
    "dL_da1": (3, 1),
    "dL_dW1": (3, 2),
    "dL_dx": (2, 1),
    "a1 @ dL_dprediction.T": (3, 1),  # «why_not»
}


def forward(W1, b1, W2, b2, x, target):
    """«forward»"""
    z1 = W1 @ x + b1
    a1 = np.maximum(z1, 0)
    prediction = W2 @ a1 + b2
    loss = 0.5 * np.sum((prediction - target) ** 2)
    return {"z1": z1, "a1": a1, "prediction": prediction, "loss": loss}


def backward(W1, b1, W2, b2, x, target):
    """«backward»"""
    saved = forward(W1, b1, W2, b2, x, target)
    d_prediction = saved["prediction"] - target
    d_a1 = W2.T @ d_prediction
    d_z1 = d_a1 * (saved["z1"] > 0)
    return {
        "dL_dprediction": d_prediction,
        "dL_dW2": d_prediction @ saved["a1"].T,
        "dL_db2": d_prediction,
        "dL_da1": d_a1,
        "dL_dz1": d_z1,
        "dL_dW1": d_z1 @ x.T,
        "dL_db1": d_z1,
        "dL_dx": W1.T @ d_z1,
    }


def batch_forward(W1, b1, W2, b2, x, target):
    """«batch_forward»"""
    z1 = x @ W1.T + b1
    a1 = np.maximum(z1, 0)
    prediction = a1 @ W2.T + b2
    loss = 0.5 * np.sum((prediction - target) ** 2) / len(x)
    return {"z1": z1, "a1": a1, "prediction": prediction, "loss": loss}


def batch_backward(W1, b1, W2, b2, x, target):
    """«batch_backward»"""
    saved = batch_forward(W1, b1, W2, b2, x, target)
    d_prediction = (saved["prediction"] - target) / len(x)
    d_a1 = d_prediction @ W2
    d_z1 = d_a1 * (saved["z1"] > 0)
    return {
        "dL_dprediction": d_prediction,
        "dL_dW2": d_prediction.T @ saved["a1"],  # «why_summed»
        "dL_db2": d_prediction.sum(axis=0),
        "dL_da1": d_a1,
        "dL_dz1": d_z1,
        "dL_dW1": d_z1.T @ x,
        "dL_db1": d_z1.sum(axis=0),
        "dL_dx": d_z1 @ W1,
    }


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
