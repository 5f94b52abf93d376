"""«module»"""

import math

import numpy as np

import whygrad


def total_norm(grads):
    """«total_norm»"""
    raise NotImplementedError("total_norm")


def clip_by_value(grads, limit):
    """«clip_by_value»"""
    raise NotImplementedError("clip_by_value")


def clip_by_norm(grads, max_norm):
    """«clip_by_norm»"""
    raise NotImplementedError("clip_by_norm")


def cosine(grads, others):
    """«cosine»"""
    raise NotImplementedError("cosine")


def turned_by_value():
    """«turned_by_value»"""
    raise NotImplementedError("turned_by_value")


def clip_model(model, clip, threshold):
    """«clip_model»"""
    raise NotImplementedError("clip_model")


# «todo_statements»
STATEMENTS = {
    "a": None,
    "b": None,
    "c": None,
    "d": None,
    "e": None,
    "f": None,
}
