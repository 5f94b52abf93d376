# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(7)
encoder = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 4))
decoder = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 12))
encoder_optimizer = optim.SGD(encoder.parameters(), lr=0.2)
decoder_optimizer = optim.SGD(decoder.parameters(), lr=0.2)

signals = whygrad.sin(whygrad.rand(256, 1) * 6 + whygrad.linspace(0, 3, 12))


def train_step(batch):
    encoder_optimizer.zero_grad()
    encoder_optimizer.zero_grad()  # expect: missing-zero-grad
    loss = ((decoder(encoder(batch)) - batch) ** 2).mean()
    loss.backward()  # expect: missing-zero-grad
    encoder_optimizer.step()
    decoder_optimizer.step()  # expect: missing-zero-grad
    return loss.item()


for epoch in range(30):
    losses = [train_step(batch) for batch in signals.split(32)]
    if epoch % 6 == 5:
        print(f"epoch {epoch + 1}: {sum(losses) / len(losses):.4f}")
