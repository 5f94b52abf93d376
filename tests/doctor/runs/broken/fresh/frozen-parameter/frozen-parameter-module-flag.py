import torch
import torch.nn as nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        )
        self.fc = nn.Linear(8 * 4 * 4, num_classes)

    def forward(self, x):
        return self.fc(self.features(x))


model = Net(num_classes=4)

for param in model.parameters():  # expect: frozen-parameter
    param.requires_grad = False  # expect: frozen-parameter
model.fc.requires_grad = True  # expect: frozen-parameter

images = torch.randn(64, 1, 8, 8)
labels = images.mean(dim=(1, 2, 3)).mul(20).long().clamp(-1, 2) + 1

optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-3)  # expect: frozen-parameter
criterion = nn.CrossEntropyLoss()

model.train()
for epoch in range(20):
    optimizer.zero_grad()
    loss = criterion(model(images), labels)
    loss.backward()  # expect: frozen-parameter
    optimizer.step()
    print(epoch, loss.item())
