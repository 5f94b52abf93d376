# engine: whygrad
import whygrad

whygrad.manual_seed(0)
X = whygrad.randn(200, 2)
true_w = whygrad.tensor([[2.0], [-3.4]])
y = X @ true_w + 4.2 + 0.01 * whygrad.randn(200, 1)

w = (whygrad.randn(2, 1) * 0.01).requires_grad_()
b = whygrad.zeros(1, requires_grad=True)
lr = 0.05

for epoch in range(4):
    for i in range(0, 200, 10):
        xb, yb = X[i : i + 10], y[i : i + 10]
        loss = ((xb @ w + b - yb) ** 2).mean() / 2
        loss.backward()
        with whygrad.no_grad():
            for p in (w, b):
                p -= lr * p.grad
                p.grad.zero_()
    with whygrad.no_grad():
        print(f"epoch {epoch + 1}, loss {((X @ w + b - y) ** 2).mean().item() / 2:.6f}")
