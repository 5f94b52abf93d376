"""
A Wasserstein GAN with a gradient penalty: the critic's gradient at points between real and
generated samples is pulled to length 1, so the loss has second derivatives.
"""

import argparse
import os

import numpy as np
import torch
import torch.autograd as autograd
import torch.nn as nn
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=200, help="number of epochs of training")
parser.add_argument("--batch_size", type=int, default=16, help="size of the batches")
parser.add_argument("--lr", type=float, default=0.0002, help="adam: learning rate")
parser.add_argument("--b1", type=float, default=0.5, help="adam: decay of the first momentum")
parser.add_argument("--b2", type=float, default=0.999, help="adam: decay of the second momentum")
parser.add_argument("--latent_dim", type=int, default=6, help="dimension of the latent space")
parser.add_argument("--img_size", type=int, default=6, help="size of each image dimension")
parser.add_argument("--channels", type=int, default=1, help="number of image channels")
parser.add_argument("--n_critic", type=int, default=2, help="critic steps per generator step")
parser.add_argument("--ngpu", type=int, default=1)
parser.add_argument("--lambda_gp", type=float, default=10)
opt = parser.parse_args()

img_shape = (opt.channels, opt.img_size, opt.img_size)
cuda = True if torch.cuda.is_available() else False
torch.manual_seed(0)
np.random.seed(0)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(opt.latent_dim, 16, normalize=False),
            *block(16, 24),
            nn.Linear(24, int(np.prod(img_shape))),
            nn.Tanh(),
        )

    def forward(self, z):
        img = self.model(z)
        return img.view(img.shape[0], *img_shape)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(
            nn.Linear(int(np.prod(img_shape)), 24),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(24, 12),
            nn.ReLU(),
            nn.Linear(12, 1),
        )

    def forward(self, img):
        return self.model(img.view(img.shape[0], -1))


generator = Generator()
discriminator = Discriminator()
if cuda:
    generator.cuda()
    discriminator.cuda()
if cuda and opt.ngpu > 1:
    generator = nn.DataParallel(generator, list(range(opt.ngpu)))
optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor


def compute_gradient_penalty(D, real_samples, fake_samples):
    """Calculates the gradient penalty loss for WGAN GP"""
    alpha = Tensor(np.random.random((real_samples.size(0), 1, 1, 1)))
    interpolates = alpha * real_samples + ((1 - alpha) * fake_samples)
    interpolates = interpolates.requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = Variable(Tensor(real_samples.shape[0], 1).fill_(1.0), requires_grad=False)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=fake,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def batches():
    rows = np.linspace(-1, 1, opt.img_size)
    for start in range(0, 4 * opt.batch_size, opt.batch_size):
        phase = np.arange(start, start + opt.batch_size).reshape(-1, 1, 1, 1)
        picture = np.sin(3 * rows.reshape(1, 1, -1, 1) + phase) * np.cos(rows.reshape(1, 1, 1, -1))
        yield torch.from_numpy(picture.astype(np.float32)), phase.ravel() % 10


os.makedirs("images", exist_ok=True)
batches_done = 0
for epoch in range(opt.n_epochs):
    for i, (imgs, _) in enumerate(batches()):
        real_imgs = Variable(imgs.type(Tensor))
        optimizer_D.zero_grad()
        z = Variable(Tensor(np.random.normal(0, 1, (imgs.shape[0], opt.latent_dim))))
        fake_imgs = generator(z)
        real_validity = discriminator(real_imgs)
        fake_validity = discriminator(fake_imgs)
        penalty = compute_gradient_penalty(discriminator, real_imgs.data, fake_imgs.data)
        d_loss = -torch.mean(real_validity) + torch.mean(fake_validity) + opt.lambda_gp * penalty
        d_loss.backward()
        optimizer_D.step()
        optimizer_G.zero_grad()
        if i % opt.n_critic == 0:
            fake_imgs = generator(z)
            fake_validity = discriminator(fake_imgs)
            g_loss = -torch.mean(fake_validity)
            g_loss.backward()
            optimizer_G.step()
            print(
                "[Epoch %d/%d] [Batch %d] [D loss: %.6f] [G loss: %.6f] [penalty: %.6f]"
                % (epoch, opt.n_epochs, i, d_loss.item(), g_loss.item(), penalty.item())
            )
            if batches_done % 4 == 0:
                np.save("images/%d.npy" % batches_done, fake_imgs.data[:4].cpu().numpy())
            batches_done += opt.n_critic
torch.save({"G": generator.state_dict(), "D": discriminator.state_dict()}, "wgan.pth")
print(sorted(torch.load("wgan.pth")["D"]))
