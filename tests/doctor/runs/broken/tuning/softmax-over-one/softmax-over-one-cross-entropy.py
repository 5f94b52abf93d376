# engine: whygrad
import whygrad
from whygrad import nn, optim
from whygrad.utils.data import DataLoader, TensorDataset

whygrad.manual_seed(4)
x = whygrad.randn(200, 5)
spam = (x.sum(dim=1, keepdim=True) > 0).float()
loader = DataLoader(TensorDataset(x, spam), batch_size=25, shuffle=True)

model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))  # expect: softmax-over-one
criterion = nn.CrossEntropyLoss()  # expect: softmax-over-one
optimizer = optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    for xb, yb in loader:
        loss = criterion(model(xb), yb)  # expect: softmax-over-one
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
accuracy = ((model(x) > 0).float() == spam).float().mean().item()
print(f"accuracy {accuracy:.3f}")
