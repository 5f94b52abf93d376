"""Handwritten digits: a perceptron and a small convolutional network, 97 and 99 of 100 right.

The 1,797 pictures of 8×8 pixels come with whygrad.  Each network takes a few seconds on two cores.
"""

import whygrad as wg
from whygrad import data, nn, optim
from whygrad.data import DataLoader, TensorDataset
from whygrad.nn import functional as F

EPOCHS = 12
train_digits, test_digits = data.digits()


def perceptron():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 10)
    )


def convolutional():
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()),
        *(nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU()),
        nn.MaxPool2d(2),
        *(nn.Conv2d(32, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU()),
        nn.MaxPool2d(2),
        *(nn.Flatten(), nn.Dropout(0.3), nn.Linear(128, 10)),
    )


def train(model, name):
    loader = DataLoader(TensorDataset(*train_digits), batch_size=32, shuffle=True)
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=EPOCHS * len(loader))
    model.train()
    for epoch in (epochs := wg.track(range(EPOCHS), name)):
        for images, labels in (batches := wg.track(loader, f"epoch {epoch + 1}")):
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            batches.log(loss=loss)
        epochs.log(loss=batches.mean("loss"))
    return epochs


@wg.no_grad()
def guesses(model):
    model.eval()
    return model(test_digits.images).argmax(1)


for make in (perceptron, convolutional):
    wg.manual_seed(0)
    model = make()
    print(f"{make.__name__}\n\n{wg.summary(model, train_digits.images[:32])}\n")
    trained = train(model, make.__name__)
    right = guesses(model) == test_digits.labels
    print(f"loss {trained.values['loss']:.3f} after {EPOCHS} epochs")
    print(f"test accuracy {right.float().mean().item():.1%}\n")

picture = test_digits.images[~right][0, 0] if not right.all() else test_digits.images[0, 0]
print("the first picture it cannot read:")
for row in picture.tolist():
    print("   ", "".join(" .:-=+*#%@"[round(9 * ink)] * 2 for ink in row))
