# engine: whygrad
import whygrad
import whygrad.nn.functional as F
from whygrad import nn, optim

whygrad.manual_seed(8)
x = whygrad.rand(300, 2) * 2 - 1
quadrant = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 32)
        self.out = nn.Linear(32, 4)

    def forward(self, x):
        return self.out(whygrad.tanh(self.hidden(x)))

    def probabilities(self, x):
        return whygrad.softmax(self(x), dim=1)  # expect: double-softmax


net = Net()
optimizer = optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
for step in range(100):
    optimizer.zero_grad()
    loss = F.cross_entropy(net.probabilities(x), quadrant)  # expect: double-softmax
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
