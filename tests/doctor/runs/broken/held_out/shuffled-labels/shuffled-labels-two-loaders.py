import torch
import torch.nn as nn
from torch.utils.data import DataLoader

images = torch.randn(256, 1, 6, 6)
classes = torch.arange(256) % 3
images[classes == 0, :, :2] += 1.5
images[classes == 1, :, 2:4] += 1.5
images[classes == 2, :, 4:] += 1.5

image_loader = DataLoader(images, batch_size=32, shuffle=True)  # expect: shuffled-labels
label_loader = DataLoader(classes, batch_size=32, shuffle=True)  # expect: shuffled-labels

model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
for epoch in range(10):
    for image, label in zip(image_loader, label_loader):  # expect: shuffled-labels
        optimizer.zero_grad()
        loss = criterion(model(image), label)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(images).argmax(1) == classes).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.4f} accuracy {accuracy:.3f}")
