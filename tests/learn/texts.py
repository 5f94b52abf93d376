"""Every text of a question or card, in both languages."""

from __future__ import annotations

from whygrad.learn.content import Card, Question
from whygrad.learn.language import Words

__all__ = ["texts_of"]


def texts_of(item: Question | Card) -> list[Words]:
    if isinstance(item, Card):
        return [item.front, item.back]
    found = [item.prompt, item.explanation, item.model_answer, *item.rubric]
    found += [text for option in item.options for text in (option.text, option.feedback)]
    found += item.line_feedback.values()
    return [text for text in found if text is not None]
