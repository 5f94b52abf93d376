"""The steps of recurrent networks, and the networks as functions of their weights."""

from whygrad.ops.recurrent import gates, networks
