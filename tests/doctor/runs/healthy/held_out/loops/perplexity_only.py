# engine: whygrad
import whygrad
import whygrad.nn.functional as F
from whygrad import nn

whygrad.manual_seed(1)
VOCAB = 15


class Bigram(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(VOCAB, VOCAB)

    def forward(self, tokens):
        return self.table(tokens)


model = Bigram().eval()
total, count = 0.0, 0
for _ in range(6):
    tokens = whygrad.randint(0, VOCAB, (4, 30))
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, VOCAB), tokens[:, 1:].reshape(-1))
    total += loss.item()
    count += 1
print("perplexity", 2.718281828 ** (total / count))
