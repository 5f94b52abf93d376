import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class TextCNN(nn.Module):
    def __init__(self, vocab=30, dim=12, classes=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.conv = nn.Conv1d(dim, 24, 3, padding=1)
        self.out = nn.Linear(24, classes)

    def forward(self, tokens):
        h = self.embed(tokens).transpose(1, 2)
        h = F.relu(self.conv(h)).amax(dim=2)
        return self.out(h).softmax(dim=1)  # expect: double-softmax


def make_data(n):
    tokens = torch.randint(4, 30, (n, 12))
    label = torch.randint(0, 4, (n,))
    tokens[torch.arange(n), torch.randint(0, 12, (n,))] = label
    return tokens, label


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.005)
    args = parser.parse_args()
    torch.manual_seed(34)
    tokens, label = make_data(320)
    model = TextCNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for i in range(0, 320, 32):
            probs = model(tokens[i : i + 32])
            log_probs = F.log_softmax(probs, dim=1)  # expect: double-softmax
            loss = F.nll_loss(log_probs, label[i : i + 32])  # expect: double-softmax
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
