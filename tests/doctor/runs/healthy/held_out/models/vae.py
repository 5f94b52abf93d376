import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(12, 40)
        self.fc21 = nn.Linear(40, 3)
        self.fc22 = nn.Linear(40, 3)
        self.fc3 = nn.Linear(3, 40)
        self.fc4 = nn.Linear(40, 12)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


torch.manual_seed(1)
patterns = (torch.rand(5, 12) > 0.5).float()
data = patterns[torch.randint(0, 5, (400,))]
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(15):
    train_loss = 0
    for batch in data.split(40):
        optimizer.zero_grad()
        recon, mu, logvar = model(batch)
        loss = loss_function(recon, batch, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    if epoch % 3 == 0:
        print(f"====> Epoch: {epoch} Average loss: {train_loss / len(data):.4f}")
print("last", train_loss / len(data))
