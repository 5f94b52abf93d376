import torch
import torch.nn as nn


class AutoEncoder(nn.Module):
    def __init__(self, n_in=36, n_code=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, n_code))
        self.decoder = nn.Sequential(
            nn.Linear(n_code, 32), nn.ReLU(), nn.Linear(32, n_in), nn.Sigmoid()
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def rectangles(count):
    images = torch.zeros(count, 6, 6)
    for image in images:
        r, c = torch.randint(0, 4, (2,)).tolist()
        h, w = torch.randint(1, 4, (2,)).tolist()
        image[r : r + h, c : c + w] = 1.0
    return images.view(count, 36)


def main():
    torch.manual_seed(3)
    data = rectangles(400)
    model = AutoEncoder()
    criterion = nn.BCELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-5)
    for epoch in range(25):
        epoch_loss = 0
        for batch in data.split(50):
            reconstruction = model(batch)
            loss = criterion(reconstruction, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item()
        if epoch % 5 == 4:
            print(f"[{epoch + 1}] loss={epoch_loss / 8:.4f}")


if __name__ == "__main__":
    main()
