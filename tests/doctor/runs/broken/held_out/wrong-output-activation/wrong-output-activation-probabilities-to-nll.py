# engine: whygrad
import whygrad
import whygrad.nn.functional as F
from whygrad import nn, optim

whygrad.manual_seed(10)
centers = whygrad.randn(6, 8)
labels = whygrad.arange(300) % 6
x = centers[labels] + 0.6 * whygrad.randn(300, 8)

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 6))
optimizer = optim.SGD(model.parameters(), lr=0.1)
for epoch in range(100):
    optimizer.zero_grad()
    output = F.softmax(model(x), dim=1)  # expect: wrong-output-activation
    loss = F.nll_loss(output, labels)  # expect: wrong-output-activation
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        accuracy = (output.argmax(dim=1) == labels).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.4f} accuracy {accuracy:.3f}")
accuracy = (model(x).argmax(dim=1) == labels).float().mean().item()
print(f"accuracy {accuracy:.3f}")
