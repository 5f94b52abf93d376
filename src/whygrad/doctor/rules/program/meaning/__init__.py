"""Losses that ask for something else than is meant."""
