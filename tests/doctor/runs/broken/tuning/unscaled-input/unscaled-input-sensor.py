# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(5)

pressure = 101325 + 400 * whygrad.randn(256, 1)
humidity = 50 + 10 * whygrad.randn(256, 1)
readings = whygrad.cat([pressure, humidity], dim=1)  # expect: unscaled-input
rain = ((pressure - 101325) / 400 - (humidity - 50) / 10 < 0).float()

model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
loss_fn = nn.BCEWithLogitsLoss()
optimizer = optim.SGD(model.parameters(), lr=0.5)

for epoch in range(100):
    optimizer.zero_grad()
    logits = model(readings)  # expect: unscaled-input
    loss = loss_fn(logits, rain)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        accuracy = ((logits > 0).float() == rain).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.3f} accuracy {accuracy:.2f}")
