"""A GPT learns to spell: 4 layers, width 128, context 64, on the texts behind Python's help().

    python examples/char_gpt.py                      about a minute on two cores
    python examples/char_gpt.py --steps 2000         longer, and better spelling
    python examples/char_gpt.py --steps 3000 --resume

A checkpoint holds the model, the optimizer, its schedule, the random numbers and the step.  What
follows after ``--resume`` is what would have followed without the break, bit for bit.
"""

import argparse
import zlib

import whygrad as wg
from whygrad import data, nn, optim
from whygrad.nn import functional as F

WIDTH, HEADS, LAYERS, CONTEXT, BATCH = 128, 4, 4, 64, 12

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=600)
parser.add_argument("--report", type=int, default=100, help="steps between two lines")
parser.add_argument("--letters", type=int, default=400, help="how many to write in the end")
parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
parser.add_argument("--checkpoint", default="char_gpt.safetensors")
options = parser.parse_args()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attention(self, x):
        heads = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.letters = nn.Embedding(vocabulary, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, vocabulary, bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, letters):
        x = self.letters(letters) + self.places(wg.arange(letters.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def loss_of(model, start):
    """Each letter against what the model expected after the letters before it."""
    window = codes[start[:, None] + wg.arange(CONTEXT + 1)]
    logits = model(window[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())


@wg.no_grad()
def validation_loss(model):
    starts = wg.linspace(boundary, len(codes) - CONTEXT - 1, 96).long()
    return sum(loss_of(model, part).item() for part in starts.split(12)) / 8


@wg.no_grad()
def write(model, beginning, count):
    written = alphabet.encode(beginning)
    for _ in range(count):
        chances = F.softmax(model(written[None, -CONTEXT:])[0, -1] / 0.8, -1)
        written = wg.cat([written, wg.multinomial(chances, 1)])
    return alphabet.decode(written)


text = data.text()
alphabet = data.Characters.of(text)
codes = alphabet.encode(text)
boundary = len(codes) * 9 // 10  # what comes after is for validation
shares = codes.unique(return_counts=True)[1] / len(codes)
unigram = -(shares * shares.log()).sum().item()

wg.manual_seed(0)
model = GPT(len(alphabet))
optimizer = optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)
warm_up = optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 50))
begin = 0
if options.resume:
    saved = wg.load(options.checkpoint)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    warm_up.load_state_dict(saved["schedule"])
    wg.set_rng_state(saved["random"])
    begin = saved["step"]

print(f"{sum(each.numel() for each in model.parameters()):,} parameters, {len(text):,} letters")
print(f"entropy of single letters: {unigram:.3f}\n\n step  training  validation")
for step in (bar := wg.track(range(begin + 1, options.steps + 1), "steps")):
    loss = loss_of(model, wg.randint(boundary - CONTEXT, (BATCH,)))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    warm_up.step()
    bar.log(loss=loss)
    if step % options.report == 0 or step == options.steps:
        print(f"{step:5}  {loss.item():8.6f}  {validation_loss(model):10.6f}")
        state = {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "schedule": warm_up.state_dict(),
            "random": wg.get_rng_state(),
            "step": step,
        }
        wg.save(state, options.checkpoint)

weights = nn.utils.parameters_to_vector(model.parameters()).detach().numpy()
print(f"\nsaved to {options.checkpoint}, weights {zlib.crc32(weights.tobytes()):08x}")
print(f"\n{write(model, 'The ', options.letters)}")
