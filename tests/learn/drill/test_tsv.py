"""The text file for Anki, read back by Anki's rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.learn.drill import anki_text
from tests.learn.drill.support import deck_of
from whygrad.learn.content import Card
from whygrad.learn.drill.notes import FIELDS, Note, notes_of
from whygrad.learn.drill.tsv import to_tsv

AWKWARD = st.text(
    st.one_of(st.sampled_from('\t"\n\r#<>&\\()·ñ∂ '), st.characters(exclude_categories=["Cs"])),
    min_size=1,
)


def note(*fields: str, deck: str = "A deck") -> Note:
    return Note("0123456789", fields, ("one", "two"), deck, datetime(2026, 1, 1, tzinfo=UTC))


def test_headers() -> None:
    lines = to_tsv(notes_of([deck_of(1)], "en")).splitlines()
    assert lines[:8] == [
        "#separator:tab",
        "#html:true",
        "#notetype:whygrad",
        "#columns:Id\tFront\tBack\tSee\tTags\tDeck\tGUID",
        "#tags column:5",
        "#deck column:6",
        "#guid column:7",
        "#if matches:update current",
    ]
    assert len(lines) == 9
    assert lines[8].startswith("d-99-01-en\t<p>Front 1?</p>\t<p>Back \\(x_1\\)</p>\t")


@given(st.lists(st.tuples(AWKWARD, AWKWARD, AWKWARD, AWKWARD), min_size=1, max_size=4), AWKWARD)
@example([("#comment?", "\t", '"', '""')], "#deck:1")
@example([('"', "a\tb", "line\nline", "\r")], "<b>")
@example([("<p>", "&amp;&", r"\(\frac{a}{b}\)", "trailing space ")], " ")
@example([("#a", "#b", "#c", "#d"), ("#separator:comma", "b", "c", "d")], "·")
def test_every_field_is_read_as_it_was_written(rows: list[tuple[str, ...]], deck: str) -> None:
    read = anki_text.read(to_tsv([note(*row, deck=deck) for row in rows]))
    assert [tuple(each.fields[name] for name in FIELDS) for each in read.notes] == rows
    assert {each.deck for each in read.notes} == {deck}
    assert all(each.tags == ["one", "two"] for each in read.notes)
    assert all(each.guid == "0123456789" for each in read.notes)


@pytest.mark.parametrize("field", ["tab\there", 'a "quote"', "two\nlines", "old\rMac", "#hash"])
def test_awkward_fields_are_quoted_and_others_are_not(field: str) -> None:
    line = to_tsv([note("id", field, "<p>plain</p>", " kept ")]).split("\n", 8)[8]
    doubled = field.replace('"', '""')
    assert line == f'id\t"{doubled}"\t<p>plain</p>\t kept \tone two\tA deck\t0123456789\n'


def test_text_arrives_as_text_and_maths_as_maths() -> None:
    (card,) = deck_of(1).cards
    odd = 'a < b & "c", `x[i] <= 2`, **strong**, $a < \\frac{1}{2} \\& b$ and \\$5'
    deck = replace(deck_of(1), cards=(replace(card, back={"en": odd, "es": odd}),))
    (read,) = anki_text.read(to_tsv(notes_of([deck], "en"))).notes
    assert read.fields["Back"] == (
        "<p>a &lt; b &amp; &quot;c&quot;, <code>x[i] &lt;= 2</code>, <strong>strong</strong>, "
        r"\(a &lt; \frac{1}{2} \&amp; b\) and $5</p>"
    )


def test_languages_and_decks() -> None:
    decks = [deck_of(3), replace(deck_of(2), id="other", name="Other")]
    read = {
        language: anki_text.read(to_tsv(notes_of(decks, language))).notes
        for language in ("en", "es")
    }
    assert [each.deck for each in read["en"]] == ["Testing · 99"] * 3 + ["Other"] * 2
    assert not {n.guid for n in read["en"]} & {n.guid for n in read["es"]}
    assert not {n.fields["Id"] for n in read["en"]} & {n.fields["Id"] for n in read["es"]}
    assert read["es"][0].fields["Front"] == "<p>¿Anverso 1?</p>"
    assert "whygrad::es" in read["es"][0].tags
    renamed = anki_text.read(to_tsv(notes_of(decks, "en", "Mine")))
    assert {each.deck for each in renamed.notes} == {"Mine"}


def test_a_corrected_card_is_the_same_note() -> None:
    def guid(card: Card) -> str:
        return next(notes_of([replace(deck_of(1), cards=(card,))], "en")).guid

    (card,) = deck_of(1).cards
    assert guid(card) == guid(replace(card, back={"en": "Corrected", "es": "Corregido"}))
    assert guid(card) != guid(replace(card, id="d-99-02"))
