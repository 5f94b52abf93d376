import torch
import torch.nn as nn

torch.manual_seed(8)


class ScoreNet(nn.Module):
    def __init__(self, n_features, n_topics=12):
        super().__init__()
        self.topics = nn.Linear(n_features, n_topics)
        self.head = nn.Linear(n_topics, 1)

    def forward(self, x):
        log_mix = torch.log_softmax(self.topics(x), dim=1)
        hidden = torch.relu(log_mix)  # expect: dead-relu
        return self.head(hidden)


x = torch.randn(200, 8)
y = x[:, :1] - 0.5 * x[:, 1:2]

net = ScoreNet(8)
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
loss_fn = nn.MSELoss()
history = []
for _ in range(150):
    prediction = net(x)
    loss = loss_fn(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
print("start", round(history[0], 4), "end", round(history[-1], 4))
