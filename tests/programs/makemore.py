"""
A character model of names, with a choice of architectures: bigram table, MLP, RNN, GRU or a bag of
words with causal weights; an InfiniteDataLoader, generation with top-k, logs for TensorBoard.
"""

import argparse
import os
import time

import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import Dataset
from torch.utils.data.dataloader import DataLoader

try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:
    SummaryWriter = None

NAMES = """anna bertil carla david emma felix greta hugo ines jonas karin leo maria nils olga paul
quirin rosa simon tilda ulla viktor wanda xaver yara zeno ada bruno clara dora emil fritz""".split()


class Bigram(nn.Module):
    def __init__(self, vocab_size, block_size):
        super().__init__()
        self.block_size = 1
        self.logits = nn.Parameter(torch.zeros((vocab_size, vocab_size)))

    def forward(self, idx, targets=None):
        return with_loss(self.logits[idx], targets)


class MLP(nn.Module):
    """The embeddings of the last characters, side by side, through a hidden layer."""

    def __init__(self, vocab_size, block_size, n_embd=8, n_hidden=24):
        super().__init__()
        self.block_size, self.vocab_size = block_size, vocab_size
        self.wte = nn.Embedding(vocab_size + 1, n_embd)
        self.mlp = nn.Sequential(
            nn.Linear(block_size * n_embd, n_hidden), nn.Tanh(), nn.Linear(n_hidden, vocab_size)
        )

    def forward(self, idx, targets=None):
        embs = []
        for _ in range(self.block_size):
            embs.append(self.wte(idx))
            idx = torch.roll(idx, 1, 1)
            idx[:, 0] = self.vocab_size
        return with_loss(self.mlp(torch.cat(embs, -1)), targets)


class RNNCell(nn.Module):
    def __init__(self, n_embd, n_hidden):
        super().__init__()
        self.xh_to_h = nn.Linear(n_embd + n_hidden, n_hidden)

    def forward(self, xt, hprev):
        return F.tanh(self.xh_to_h(torch.cat([xt, hprev], dim=1)))


class GRUCell(nn.Module):
    def __init__(self, n_embd, n_hidden):
        super().__init__()
        self.xh_to_z = nn.Linear(n_embd + n_hidden, n_hidden)
        self.xh_to_r = nn.Linear(n_embd + n_hidden, n_hidden)
        self.xh_to_hbar = nn.Linear(n_embd + n_hidden, n_hidden)

    def forward(self, xt, hprev):
        xh = torch.cat([xt, hprev], dim=1)
        r, z = F.sigmoid(self.xh_to_r(xh)), F.sigmoid(self.xh_to_z(xh))
        hbar = F.tanh(self.xh_to_hbar(torch.cat([xt, r * hprev], dim=1)))
        return (1 - z) * hprev + z * hbar


class RNN(nn.Module):
    def __init__(self, vocab_size, block_size, cell_type="rnn", n_embd=8, n_hidden=16):
        super().__init__()
        self.block_size = block_size
        self.start = nn.Parameter(torch.zeros(1, n_hidden))
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.cell = RNNCell(n_embd, n_hidden) if cell_type == "rnn" else GRUCell(n_embd, n_hidden)
        self.lm_head = nn.Linear(n_hidden, vocab_size)

    def forward(self, idx, targets=None):
        b, t = idx.size()
        emb = self.wte(idx)
        hprev, hiddens = self.start.expand((b, -1)), []
        for i in range(t):
            hprev = self.cell(emb[:, i, :], hprev)
            hiddens.append(hprev)
        return with_loss(self.lm_head(torch.stack(hiddens, 1)), targets)


class BoW(nn.Module):
    """Equal attention to everything before."""

    def __init__(self, vocab_size, block_size, n_embd=16):
        super().__init__()
        self.block_size = block_size
        self.wte, self.wpe = nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)
        mask = torch.tril(torch.ones(block_size, block_size)).view(1, block_size, block_size)
        self.register_buffer("bias", mask)
        self.lm_head = nn.Linear(n_embd, vocab_size)

    def forward(self, idx, targets=None):
        b, t = idx.size()
        pos = torch.arange(0, t, dtype=torch.long, device=idx.device).unsqueeze(0)
        x = self.wte(idx) + self.wpe(pos)
        att = torch.zeros((b, t, t), device=x.device)
        att = att.masked_fill(self.bias[:, :t, :t] == 0, float("-inf"))
        return with_loss(self.lm_head(x + F.softmax(att, dim=-1) @ x), targets)


def with_loss(logits, targets):
    if targets is None:
        return logits, None
    flat = logits.view(-1, logits.size(-1))
    return logits, F.cross_entropy(flat, targets.view(-1), ignore_index=-1)


class CharDataset(Dataset):
    def __init__(self, words, chars, max_word_length):
        self.words, self.max_word_length = words, max_word_length
        self.stoi = {ch: i + 1 for i, ch in enumerate(chars)}
        self.itos = {i: s for s, i in self.stoi.items()}

    def __len__(self):
        return len(self.words)

    def __getitem__(self, idx):
        ix = torch.tensor([self.stoi[c] for c in self.words[idx]], dtype=torch.long)
        x = torch.zeros(self.max_word_length + 1, dtype=torch.long)
        y = torch.zeros(self.max_word_length + 1, dtype=torch.long)
        x[1 : 1 + len(ix)] = ix
        y[: len(ix)] = ix
        y[len(ix) + 1 :] = -1
        return x, y


class InfiniteDataLoader:
    def __init__(self, dataset, **kwargs):
        sampler = torch.utils.data.RandomSampler(dataset, replacement=True, num_samples=int(1e10))
        self.train_loader = DataLoader(dataset, sampler=sampler, **kwargs)
        self.data_iter = iter(self.train_loader)

    def next(self):
        try:
            return next(self.data_iter)
        except StopIteration:
            self.data_iter = iter(self.train_loader)
            return next(self.data_iter)


@torch.no_grad()
def generate(model, idx, max_new_tokens, do_sample=False, top_k=None):
    for _ in range(max_new_tokens):
        idx_cond = idx if idx.size(1) <= model.block_size else idx[:, -model.block_size :]
        logits = model(idx_cond)[0][:, -1, :]
        if top_k is not None:
            v, _ = torch.topk(logits, top_k)
            logits[logits < v[:, [-1]]] = -float("Inf")
        probs = F.softmax(logits, dim=-1)
        idx_next = torch.multinomial(probs, 1) if do_sample else torch.topk(probs, 1, dim=-1)[1]
        idx = torch.cat((idx, idx_next), dim=1)
    return idx


@torch.inference_mode()
def evaluate(model, dataset, batch_size=16):
    model.eval()
    losses = []
    for batch in DataLoader(dataset, batch_size=batch_size, num_workers=0):
        losses.append(model(*batch)[1].item())
    model.train()
    return torch.tensor(losses).mean().item()


parser = argparse.ArgumentParser()
parser.add_argument("--work-dir", "-o", default="out")
parser.add_argument("--max-steps", type=int, default=10000)
parser.add_argument("--types", default="bigram,mlp,rnn,gru,bow")
parser.add_argument("--learning-rate", "-l", type=float, default=5e-3)
args = parser.parse_args()
chars = sorted(set("".join(NAMES)))
longest = max(len(w) for w in NAMES)
split = len(NAMES) - 6
train, test = (CharDataset(part, chars, longest) for part in (NAMES[:split], NAMES[split:]))
os.makedirs(args.work_dir, exist_ok=True)
writer = SummaryWriter(log_dir=args.work_dir) if SummaryWriter is not None else None
makers = {
    "bigram": Bigram, "mlp": MLP, "rnn": RNN, "bow": BoW,
    "gru": lambda vocab_size, block_size: RNN(vocab_size, block_size, "gru"),
}  # fmt: skip
for kind in args.types.split(","):
    torch.manual_seed(3407)
    torch.cuda.manual_seed_all(3407)
    model = makers[kind](len(chars) + 1, longest + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, weight_decay=0.01,
                                  betas=(0.9, 0.99), eps=1e-8)  # fmt: skip
    batches = InfiniteDataLoader(train, batch_size=8, pin_memory=False, num_workers=0)
    began = time.time()
    for step in range(args.max_steps):
        X, Y = batches.next()
        logits, loss = model(X, Y)
        model.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"{kind} step {step} | loss {loss.item():.6f}")
    assert time.time() >= began
    test_loss = evaluate(model, test)
    if writer is not None:
        writer.add_scalar(f"Loss/{kind}", test_loss, args.max_steps)
        writer.flush()
    path = os.path.join(args.work_dir, f"{kind}.pt")
    torch.save(model.state_dict(), path)
    print(f"{kind} test loss {test_loss:.6f}", sorted(torch.load(path)))
    start = torch.zeros(2, 1, dtype=torch.long)
    for row in generate(model, start, longest, do_sample=True, top_k=5)[:, 1:].tolist():
        word = row[: row.index(0)] if 0 in row else row
        print(kind, "".join(train.itos[i] for i in word))
if writer is not None:
    writer.close()
