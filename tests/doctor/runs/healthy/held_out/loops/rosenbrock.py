# engine: whygrad
import whygrad

point = whygrad.tensor([-1.2, 1.0], dtype=whygrad.float64, requires_grad=True)
optimizer = whygrad.optim.Adam([point], lr=0.1)

for step in range(600):
    x, y = point
    value = (1 - x) ** 2 + 100 * (y - x**2) ** 2
    optimizer.zero_grad()
    value.backward()
    optimizer.step()
    if step % 100 == 0:
        print(step, point.tolist(), value.item())
print("minimum near", point.tolist())
