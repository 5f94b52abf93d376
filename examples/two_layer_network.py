"""A two-layer network: backpropagation by hand in NumPy, the same gradients from whygrad, training.

The shape of every gradient is the shape of its parameter; that one check finds most mistakes of a
backward pass written by hand.
"""

import numpy as np

import whygrad as wg

wg.manual_seed(0)
x = wg.linspace(-2.0, 2.0, 64, dtype=wg.float64).unsqueeze(1)
target = wg.sin(2.0 * x)
W1 = wg.randn(1, 16, dtype=wg.float64).requires_grad_()
b1 = wg.zeros(16, dtype=wg.float64, requires_grad=True)
W2 = (wg.randn(16, 1, dtype=wg.float64) * 0.25).requires_grad_()
b2 = wg.zeros(1, dtype=wg.float64, requires_grad=True)
parameters = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}


def loss_of_network():
    hidden = wg.tanh(x @ W1 + b1)
    return ((hidden @ W2 + b2 - target) ** 2).mean()


def gradients_by_hand():
    X, T = x.numpy(), target.numpy()
    w1, c1, w2, c2 = (each.detach().numpy() for each in parameters.values())
    hidden = np.tanh(X @ w1 + c1)
    d_prediction = 2 * (hidden @ w2 + c2 - T) / len(X)
    d_before_tanh = d_prediction @ w2.T * (1 - hidden**2)
    return {
        "W1": X.T @ d_before_tanh,
        "b1": d_before_tanh.sum(axis=0),  # b1 was broadcast over the batch
        "W2": hidden.T @ d_prediction,
        "b2": d_prediction.sum(axis=0),
    }


loss_of_network().backward()
print("gradient  parameter  by hand   largest difference")
for name, by_hand in gradients_by_hand().items():
    mine = parameters[name].grad.numpy()
    gap = np.abs(mine - by_hand).max()
    print(f"d{name}       {mine.shape!s:9}  {by_hand.shape!s:8}  {gap:.0e}")

print("\nstep   loss")
for step in range(501):
    for parameter in parameters.values():
        parameter.grad = None  # backward adds to .grad, so start from nothing
    loss = loss_of_network()
    loss.backward()
    with wg.no_grad():
        for parameter in parameters.values():
            parameter -= 0.1 * parameter.grad
    if step % 100 == 0:
        print(f"{step:4}   {loss.item():.4f}")
