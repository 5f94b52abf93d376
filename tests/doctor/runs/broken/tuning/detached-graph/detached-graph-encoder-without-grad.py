# engine: whygrad
import whygrad
from whygrad import nn, optim
from whygrad.utils.data import DataLoader, TensorDataset

whygrad.manual_seed(0)


class AutoEncoder(nn.Module):
    def __init__(self, n=20, code=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n, 32), nn.ReLU(), nn.Linear(32, code))
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, n))

    @whygrad.no_grad()  # expect: detached-graph
    def encode(self, x):  # expect: detached-graph
        return self.encoder(x)

    def forward(self, x):
        return self.decoder(self.encode(x))  # expect: detached-graph


latent = whygrad.randn(400, 3) * whygrad.tensor([3.0, 1.0, 1.0])
data = whygrad.tanh(latent @ whygrad.randn(3, 20))
loader = DataLoader(TensorDataset(data), batch_size=50, shuffle=True)

model = AutoEncoder()
optimizer = optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-4)
criterion = nn.MSELoss()
for epoch in range(20):
    total = 0.0
    for (batch,) in loader:
        loss = criterion(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} reconstruction {total / len(loader):.4f}")
