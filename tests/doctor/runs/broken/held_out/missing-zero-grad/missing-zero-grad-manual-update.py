import torch


def model(x, params):
    w1, b1, w2, b2 = params
    return torch.relu(x @ w1 + b1) @ w2 + b2


def main():
    torch.manual_seed(1)
    x = torch.linspace(-3, 3, 120).reshape(-1, 1)
    y = x.abs() - 0.5 * x
    params = [
        torch.randn(1, 20) * 0.5,
        torch.randn(20) * 0.5,
        torch.randn(20, 1) * 0.3,
        torch.zeros(1),
    ]
    for p in params:
        p.requires_grad_()

    lr = 0.02
    for step in range(250):  # expect: missing-zero-grad
        loss = (model(x, params) - y).pow(2).mean()
        loss.backward()  # expect: missing-zero-grad
        with torch.no_grad():
            for p in params:
                p -= lr * p.grad  # expect: missing-zero-grad
        if step % 50 == 0:
            print(f"{step:4d} {loss.item():.5f}")
    print(f" end {loss.item():.5f}")


if __name__ == "__main__":
    main()
