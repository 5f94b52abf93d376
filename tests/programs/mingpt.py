"""
A GPT that learns to sort digits: a Dataset, a Trainer with callbacks over a DataLoader, parameters
sorted into those with and without weight decay.
"""

import argparse
import math
from collections import defaultdict

import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import Dataset
from torch.utils.data.dataloader import DataLoader


class CfgNode:
    """Settings as attributes."""

    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)


class SortDataset(Dataset):
    """121 → 112: the model reads the digits and must continue with them in order."""

    def __init__(self, split, length=5, num_digits=3):
        self.split, self.length, self.num_digits = split, length, num_digits

    def __len__(self):
        return 64

    def __getitem__(self, idx):
        generator = (idx * 7919 + (13 if self.split == "train" else 29)) % 100003
        digits = [(generator // 3**k) % self.num_digits for k in range(self.length)]
        inp = torch.tensor(digits, dtype=torch.long)
        sol = torch.sort(inp)[0]
        cat = torch.cat((inp, sol), dim=0)
        x, y = cat[:-1].clone(), cat[1:].clone()
        y[: self.length - 1] = -1
        return x, y


class NewGELU(nn.Module):
    def forward(self, x):
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.attn_dropout, self.resid_dropout = nn.Dropout(config.pdrop), nn.Dropout(config.pdrop)
        size = config.block_size
        mask = torch.tril(torch.ones(size, size)).view(1, 1, size, size)
        self.register_buffer("bias", mask)
        self.n_head, self.n_embd = config.n_head, config.n_embd

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)
        self.attn = CausalSelfAttention(config)
        self.mlp = nn.ModuleDict(dict(
            c_fc=nn.Linear(config.n_embd, 4 * config.n_embd),
            c_proj=nn.Linear(4 * config.n_embd, config.n_embd),
            act=NewGELU(), dropout=nn.Dropout(config.pdrop),
        ))  # fmt: skip
        m = self.mlp
        self.mlpf = lambda x: m.dropout(m.c_proj(m.act(m.c_fc(x))))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlpf(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.block_size = config.block_size
        self.transformer = nn.ModuleDict(dict(
            wte=nn.Embedding(config.vocab_size, config.n_embd),
            wpe=nn.Embedding(config.block_size, config.n_embd),
            drop=nn.Dropout(config.pdrop),
            h=nn.ModuleList([Block(config) for _ in range(config.n_layer)]),
            ln_f=nn.LayerNorm(config.n_embd),
        ))  # fmt: skip
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                module.bias.data.zero_()
        elif isinstance(module, nn.LayerNorm):
            module.bias.data.zero_()
            module.weight.data.fill_(1.0)

    def configure_optimizers(self, train_config):
        decay, no_decay = set(), set()
        whitelist, blacklist = (torch.nn.Linear,), (torch.nn.LayerNorm, torch.nn.Embedding)
        for mn, m in self.named_modules():
            for pn, _ in m.named_parameters():
                fpn = f"{mn}.{pn}" if mn else pn
                if pn.endswith("bias"):
                    no_decay.add(fpn)
                elif pn.endswith("weight") and isinstance(m, whitelist):
                    decay.add(fpn)
                elif pn.endswith("weight") and isinstance(m, blacklist):
                    no_decay.add(fpn)
        param_dict = dict(self.named_parameters())
        assert not decay & no_decay
        assert param_dict.keys() == decay | no_decay
        groups = [
            {"params": [param_dict[pn] for pn in sorted(decay)], "weight_decay": 0.1},
            {"params": [param_dict[pn] for pn in sorted(no_decay)], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=train_config.learning_rate, betas=(0.9, 0.95))

    def forward(self, idx, targets=None):
        pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device).unsqueeze(0)
        x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(pos))
        for block in self.transformer.h:
            x = block(x)
        logits = self.lm_head(self.transformer.ln_f(x))
        loss = None
        if targets is not None:
            flat = logits.view(-1, logits.size(-1))
            loss = F.cross_entropy(flat, targets.view(-1), ignore_index=-1)
        return logits, loss

    @torch.no_grad()
    def generate(self, idx, max_new_tokens):
        for _ in range(max_new_tokens):
            logits, _ = self(idx[:, -self.block_size :])
            _, idx_next = torch.topk(F.softmax(logits[:, -1, :], dim=-1), k=1, dim=-1)
            idx = torch.cat((idx, idx_next), dim=1)
        return idx


class Trainer:
    def __init__(self, config, model, train_dataset):
        self.config, self.model, self.train_dataset = config, model, train_dataset
        self.callbacks = defaultdict(list)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = self.model.to(self.device)
        self.iter_num, self.loss = 0, None

    def add_callback(self, onevent, callback):
        self.callbacks[onevent].append(callback)

    def run(self):
        self.optimizer = self.model.configure_optimizers(self.config)
        loader = DataLoader(self.train_dataset, shuffle=True, batch_size=self.config.batch_size,
                            num_workers=self.config.num_workers)  # fmt: skip
        self.model.train()
        data_iter = iter(loader)
        while self.iter_num < self.config.max_iters:
            try:
                batch = next(data_iter)
            except StopIteration:
                data_iter = iter(loader)
                batch = next(data_iter)
            x, y = [t.to(self.device) for t in batch]
            _, self.loss = self.model(x, y)
            self.model.zero_grad(set_to_none=True)
            self.loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            for callback in self.callbacks["on_batch_end"]:
                callback(self)
            self.iter_num += 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--max_iters", type=int, default=2000)
    opts = parser.parse_args()
    torch.manual_seed(3407)
    train = SortDataset("train")
    model = GPT(CfgNode(vocab_size=3, block_size=9, n_layer=2, n_head=2, n_embd=16, pdrop=0.0))
    config = CfgNode(learning_rate=5e-4, batch_size=16, num_workers=0, max_iters=opts.max_iters)
    trainer = Trainer(config, model, train)
    trainer.add_callback(
        "on_batch_end", lambda t: print(f"iter {t.iter_num}: train loss {t.loss.item():.6f}")
    )
    trainer.run()
    model.eval()
    inp = torch.tensor([[0, 2, 1, 0, 1]], dtype=torch.long)
    print("sorted", model.generate(inp, 5)[0, 5:].tolist())
    torch.save(model.state_dict(), "model.pt")
    again = GPT(CfgNode(vocab_size=3, block_size=9, n_layer=2, n_head=2, n_embd=16, pdrop=0.0))
    again.load_state_dict(torch.load("model.pt"))
    with torch.no_grad():
        total = sum(again(x[None], y[None])[1].item() for x, y in (train[i] for i in range(8)))
    print(f"loss of the saved model {total:.6f}")
