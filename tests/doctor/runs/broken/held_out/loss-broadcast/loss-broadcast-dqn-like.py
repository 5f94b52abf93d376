# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(13)

states = whygrad.randn(256, 4)
actions = whygrad.randint(0, 2, (256,))
rewards = whygrad.where(actions == 0, states[:, 0], -states[:, 0]) + states[:, 1]

q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = optim.Adam(q_net.parameters(), lr=0.01)

for update in range(150):
    idx = whygrad.randint(0, 256, (64,))
    q_values = q_net(states[idx]).gather(1, actions[idx].unsqueeze(1))
    td_error = rewards[idx] - q_values  # expect: loss-broadcast
    loss = td_error.pow(2).mean()  # expect: loss-broadcast
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 25 == 0:
        print(f"update {update}: loss {loss.item():.4f}")
print(f"last loss {loss.item():.4f}")
