# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(0)
codes = whygrad.rand(256, 3)
basis = whygrad.rand(3, 25)
clean = (codes @ basis) / 3.0

encoder = nn.Sequential(nn.Linear(25, 16), nn.ReLU(), nn.Linear(16, 4))
decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 25), nn.Sigmoid())
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = optim.Adam(params, lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(20):
    total = 0.0
    for i in range(0, 256, 32):
        batch = clean[i : i + 32]
        noisy = batch + 0.05 * whygrad.randn(32, 25)
        loss = criterion(decoder(encoder(noisy)), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total / 8:.5f}")
