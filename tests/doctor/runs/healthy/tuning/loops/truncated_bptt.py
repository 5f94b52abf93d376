# engine: whygrad
import whygrad as wg
import whygrad.nn as nn

wg.manual_seed(12)
t = wg.arange(0, 800) * 0.1
signal = wg.sin(t) + 0.5 * wg.sin(2.3 * t)
cell, readout = nn.RNNCell(1, 24), nn.Linear(24, 1)
parameters = [*cell.parameters(), *readout.parameters()]
optimizer = wg.optim.Adam(parameters, lr=0.005)

for epoch in range(3):
    h = wg.zeros(1, 24)
    for chunk in range(0, 780, 20):
        h = h.detach()
        losses = []
        for k in range(chunk, chunk + 20):
            h = cell(signal[k].view(1, 1), h)
            losses.append((readout(h).squeeze() - signal[k + 1]) ** 2)
        loss = wg.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
