import torch
import torch.nn as nn

torch.manual_seed(0)

codes = torch.rand(256, 4)
basis = torch.rand(4, 36)
images = (codes @ basis) / basis.sum(dim=0)
images = (images - 0.5) / 0.25  # expect: target-out-of-range


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(36, 24), nn.ReLU(), nn.Linear(24, 4))
        self.decoder = nn.Sequential(
            nn.Linear(4, 24),
            nn.ReLU(),
            nn.Linear(24, 36),
            nn.Sigmoid(),  # expect: target-out-of-range
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(25):
    total = 0.0
    for img in images.split(32):
        recon = model(img)
        loss = criterion(recon, img)  # expect: target-out-of-range
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"Epoch:{epoch + 1}, Loss:{total / 8:.4f}")
