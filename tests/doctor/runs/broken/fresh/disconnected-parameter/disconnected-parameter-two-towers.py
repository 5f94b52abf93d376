import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class TwoInputNet(nn.Module):
    def __init__(self, text_dim, image_dim, hidden=32):
        super().__init__()
        self.text_fc = nn.Linear(text_dim, hidden)
        self.image_fc = nn.Linear(image_dim, hidden)  # expect: disconnected-parameter
        self.head = nn.Linear(2 * hidden, 3)

    def forward(self, text, image):
        parts = [  # expect: disconnected-parameter
            F.relu(self.text_fc(text)),
            F.relu(self.image_fc(image)),  # expect: disconnected-parameter
        ]
        x = torch.cat([parts[0], parts[0]], dim=1)  # expect: disconnected-parameter
        return self.head(x)


text = torch.randn(256, 12)
image = torch.randn(256, 20)
labels = (image @ torch.randn(20, 3) + 0.3 * text[:, :3]).argmax(dim=1)

model = TwoInputNet(12, 20)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(15):
    order = torch.randperm(256)
    total = 0.0
    for start in range(0, 256, 32):
        batch = order[start : start + 32]
        optimizer.zero_grad()
        loss = criterion(model(text[batch], image[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / 8:.4f}")
