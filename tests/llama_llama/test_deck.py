"""Decks: the file format and each of its errors, the tables, scoring against brute force, and random decks."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections import Counter
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.recording import Recorder, read_games, write_games
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.deck import (
    LETTERS,
    Card,
    Combination,
    Deck,
    DeckError,
    Rule,
    deck_from_toml,
    deck_table,
    deck_table_markdown,
    load_deck,
    random_deck,
    score_hands,
)
from llama_envs.llama_llama.game import make_game

VALID = """\
name = "mine"
size = 12

[[card]]
letter = "B"
copies = 4
rules = [{ B = 2 }, { AACC = 15 }]
provenance = "attested"

[[card]]
letter = "A"
copies = 5
rules = [{ A = 1 }, { AB = 5, CC = 7 }]
provenance = "assumed"

[[card]]
letter = "C"
copies = 3
rules = [{ C = 3 }, { ABC = 9 }]
provenance = "assumed"
name = "C:three"
"""


def pays(**points: int) -> Rule:
    return tuple(Combination(letters, number) for letters, number in points.items())


def tiny_deck(*cards: Card) -> Deck:
    return Deck("tiny", cards, sum(card.copies for card in cards))


# ------------------------------------------------------------------ the deck as data


def test_default_deck_has_32_cards_of_12_kinds__P1_P2() -> None:
    deck = load_deck("reconstructed")
    assert deck.size == deck.counts.sum() == 32
    assert deck.num_kinds == 12
    by_letter: Counter[str] = Counter()
    for card in deck.cards:
        by_letter[card.letter] += card.copies
    assert by_letter == {"A": 7, "B": 6, "C": 5, "D": 5, "E": 4, "F": 3, "G": 2}
    for card in deck.cards:
        assert card.first == (Combination(card.letter, LETTERS.index(card.letter) + 1),)


def test_default_deck_marks_attested_only_what_the_rulebook_shows__P2() -> None:
    deck = load_deck("reconstructed")
    attested = {name for name, card in zip(deck.kind_names, deck.cards, strict=True) if card.provenance == "attested"}
    assert attested == {"A:ABCDEFG", "B:AACC", "D:AG+CE+BF"}
    second = {card.rules_text[1] for card in deck.cards}
    assert {"ABCDEFG = 50", "AACC = 15", "AG / CE / BF = 5", "AABB = 10", "AA = 7", "DF = 5"} <= second


def test_kinds_are_ordered_by_letter_then_by_the_file() -> None:
    deck = deck_from_toml(VALID)
    assert [card.letter for card in deck.cards] == ["A", "B", "C"]
    assert deck.letters.tolist() == [0, 1, 2]
    assert np.all(np.diff(load_deck("reconstructed").letters) >= 0)
    assert load_deck("reconstructed").kind_names[:4] == ("A:ABCDEFG", "A:AABB", "B:AACC", "B:AA")


def test_tables_are_padded_and_read_only() -> None:
    deck = deck_from_toml(VALID)
    assert deck.counts.tolist() == [5, 4, 3]
    assert deck.need.dtype == np.int8
    assert deck.need[0].tolist() == [[1, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0, 0]]
    assert deck.need[1].tolist() == [[0, 1, 0, 0, 0, 0, 0], [2, 0, 2, 0, 0, 0, 0], [0] * 7]
    assert deck.points.dtype == np.int16
    assert deck.points.tolist() == [[1, 5, 7], [2, 15, 0], [3, 9, 0]]
    for table in (deck.counts, deck.letters, deck.need, deck.points):
        assert not table.flags.writeable


def test_deck_is_equal_to_its_copies_and_keeps_read_only_tables() -> None:
    deck = deck_from_toml(VALID)
    deck.need  # noqa: B018 - the table exists before the copy is made
    for twin in (copy.deepcopy(deck), pickle.loads(pickle.dumps(deck)), deck_from_toml(VALID)):
        assert twin == deck
        assert hash(twin) == hash(deck)
        assert not twin.need.flags.writeable


def test_toml_round_trip_gives_an_equal_deck(tmp_path: Path) -> None:
    for deck in (
        load_deck("reconstructed"),
        deck_from_toml(VALID),
        random_deck(5),
        Deck('ü "\\', random_deck(1).cards),
    ):
        assert deck_from_toml(deck.to_toml()) == deck
        file = tmp_path / "deck.toml"
        file.write_text(deck.to_toml(), encoding="utf-8")
        assert deck_from_toml(file) == deck_from_toml(str(file)) == load_deck(str(file)) == load_deck(file) == deck


def test_windows_text_is_read(tmp_path: Path) -> None:
    file = tmp_path / "deck.toml"
    file.write_bytes(b"\xef\xbb\xbf" + VALID.replace("\n", "\r\n").encode())
    assert load_deck(file) == deck_from_toml(VALID)


def test_load_deck_returns_a_deck_as_it_is() -> None:
    deck = random_deck(0)
    assert load_deck(deck) is deck


def test_example_of_the_format_is_valid() -> None:
    module = sys.modules["llama_envs.llama_llama.deck"]
    assert module.__doc__ is not None
    example = module.__doc__.split("::\n", 1)[1].split("\n``python", 1)[0]
    lines = [line.strip() for line in example.splitlines()]
    text = "\n".join(lines).replace("copies = 3", "copies = 26")
    others = "\n".join(
        f'[[card]]\nletter = "{letter}"\ncopies = 1\nrules = [{{{letter} = 1}}, {{AB = 1}}]\nprovenance = "assumed"'
        for letter in "ABCEFG"
    )
    deck = deck_from_toml(f"{text}\n{others}")
    assert deck.cards[3].rules_text == ("D = 4", "AG / CE / BF = 5")
    assert deck.kind_names[3] == "D:pairs"


def test_letters_of_a_combination_are_kept_in_order() -> None:
    assert Combination("CBB", 8) == Combination("BBC", 8)


def test_kind_names_are_unique_and_no_longer_than_needed() -> None:
    deck = tiny_deck(
        Card("A", pays(A=1), pays(AB=5)),
        Card("A", pays(A=1), pays(AB=6)),
        Card("A", pays(A=2), pays(AB=6)),
        Card("B", pays(B=1), pays(AB=5)),
        Card("B", pays(B=1), pays(AA=5), name="B:pair"),
    )
    assert deck.kind_names == ("A:AB=5", "A:A=1,AB=6", "A:A=2,AB=6", "B:AB", "B:pair")


# ------------------------------------------------------------------ errors


def sentence(text: str) -> str:
    """The error of a deck text, checked to be one sentence on one line."""
    with pytest.raises(DeckError) as caught:
        deck_from_toml(text)
    assert isinstance(caught.value, ValueError)
    message = str(caught.value)
    where, _, rest = message.partition(": ")
    assert where == "deck text" or where.startswith("deck ")
    assert message.endswith(".")
    assert "\n" not in message
    return rest


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("size = 12", "", 'the "copies" of all cards add up to 12, but must add up to size = 32.'),
        ("copies = 4", "copies = 3", 'the "copies" of all cards add up to 11, but must add up to size = 12.'),
        ("size = 12", "size = 33", 'key "size": must be an integer from 1 to 32, not 33.'),
        ("size = 12", "size = true", 'key "size": must be an integer from 1 to 32, not true.'),
        ('name = "mine"', "name = 7", 'key "name": must be a text of one printable character or more, not 7.'),
        (
            'letter = "B"',
            'letter = "H"',
            'card 1 (H), key "letter": "H" is unknown; letters are A, B, C, D, E, F, G.',
        ),
        (
            'letter = "B"',
            'letter = "AB"',
            'card 1 (AB), key "letter": "AB" is unknown; letters are A, B, C, D, E, F, G.',
        ),
        (
            "AACC = 15",
            "AAXC = 15",
            'card 1 (B), key "rules": the combination "AAXC" has the unknown letter "X"; '
            "letters are A, B, C, D, E, F, G.",
        ),
        (
            "AACC = 15",
            "AACC = -15",
            'card 1 (B), key "rules": the points of "AACC" must be an integer from 1 to 1000, not -15.',
        ),
        (
            "AACC = 15",
            "AACC = 0",
            'card 1 (B), key "rules": the points of "AACC" must be an integer from 1 to 1000, not 0.',
        ),
        (
            "AACC = 15",
            "AACC = 1.5",
            'card 1 (B), key "rules": the points of "AACC" must be an integer from 1 to 1000, not 1.5.',
        ),
        (
            "AACC = 15",
            "AACC = true",
            'card 1 (B), key "rules": the points of "AACC" must be an integer from 1 to 1000, not true.',
        ),
        (
            "AACC = 15",
            "AACC = 1001",
            'card 1 (B), key "rules": the points of "AACC" must be an integer from 1 to 1000, not 1001.',
        ),
        (
            "AACC = 15",
            '"" = 15',
            'card 1 (B), key "rules": the combination "" is empty; a combination has one letter or more from A to G.',
        ),
        (
            "{ AACC = 15 }",
            "{ }",
            'card 1 (B), key "rules": a rule pays for one combination or more, { letters = points, ... }, not {}.',
        ),
        (
            "{ AACC = 15 }",
            '"A = 1"',
            'card 1 (B), key "rules": a rule pays for one combination or more, { letters = points, ... }, not "A = 1".',
        ),
        (
            "AB = 5, CC = 7",
            "AB = 5, BA = 7",
            'card 2 (A), key "rules": the second rule lists "AB" twice; once is allowed.',
        ),
        (
            "[{ B = 2 }, { AACC = 15 }]",
            "[{ B = 2 }]",
            'card 1 (B), key "rules": must be a list of exactly two rules, not a list of 1.',
        ),
        (
            "[{ B = 2 }, { AACC = 15 }]",
            "[{ B = 2 }, { AACC = 15 }, { A = 1 }]",
            'card 1 (B), key "rules": must be a list of exactly two rules, not a list of 3.',
        ),
        (
            "[{ B = 2 }, { AACC = 15 }]",
            "{ B = 2 }",
            'card 1 (B), key "rules": must be a list of exactly two rules, not {"B": 2}.',
        ),
        (
            "AACC = 15",
            "AACCC = 15, CCCC = 4",
            'card 1 (B:AACCC+CCCC), key "rules": no hand can hold "CCCC"; the deck has 3 cards of the letter C.',
        ),
        (
            "AACC = 15",
            "ABG = 15",
            'card 1 (B:ABG), key "rules": no hand can hold "ABG"; the deck has 0 cards of the letter G.',
        ),
        (
            "AACC = 15",
            "AAABBBCC = 15",
            'card 1 (B:AAABBBCC), key "rules": no hand can hold "AAABBBCC"; '
            "a combination has at most the 7 letters of a scored hand.",
        ),
        ("copies = 4", "copies = 0", 'card 1 (B), key "copies": must be an integer from 1 to 32, not 0.'),
        ("copies = 4", "copies = 4.0", 'card 1 (B), key "copies": must be an integer from 1 to 32, not 4.0.'),
        (
            'provenance = "attested"',
            'provenance = "guessed"',
            'card 1 (B), key "provenance": must be "attested" or "assumed", not "guessed".',
        ),
        (
            "copies = 4",
            "copys = 4",
            'card 1 (B) has the unknown key "copys"; allowed keys are letter, copies, rules, provenance, name.',
        ),
        (
            'letter = "B"\n',
            "",
            'card 1 lacks the key "letter"; required keys are letter, copies, rules, provenance.',
        ),
        (
            "copies = 4\n",
            "",
            'card 1 (B) lacks the key "copies"; required keys are letter, copies, rules, provenance.',
        ),
        ("size = 12", "cards = 12", 'the deck has the unknown key "cards"; allowed keys are name, size, card.'),
        ('name = "mine"', "", 'the deck lacks the key "name"; required keys are name, card.'),
        (
            'name = "C:three"',
            'name = "C three"',
            'card 3 (C), key "name": must be 1 to 40 letters, digits or characters of ":+=,._-", not "C three".',
        ),
        (
            'name = "C:three"',
            'name = ""',
            'card 3 (C), key "name": must not be empty; leave the key out to have a name made.',
        ),
    ],
)
def test_broken_entry_is_told_in_one_sentence__P2(old: str, new: str, expected: str) -> None:
    assert old in VALID
    assert sentence(VALID.replace(old, new, 1)) == expected


def test_kind_listed_twice_is_refused__P2() -> None:
    again = '\n[[card]]\nletter = "A"\ncopies = 1\nrules = [{ A = 1 }, { CC = 7, AB = 5 }]\nprovenance = "attested"\n'
    assert sentence(VALID + again) == (
        "card 4 (A:CC+AB) has the letter and the rules of card 2; "
        'each kind is listed once, with its number in "copies".'
    )


def test_name_given_twice_is_refused() -> None:
    again = '\n[[card]]\nletter = "C"\ncopies = 1\nrules = [{ C = 1 }, { AB = 5 }]\nprovenance = "assumed"\n'
    text = VALID.replace("size = 12", "size = 13") + again + 'name = "C:three"\n'
    assert sentence(text) == 'card 4 (C:three), key "name": "C:three" is taken by card 3; names are unique.'


def test_broken_toml_is_refused_with_its_place() -> None:
    message = sentence(VALID.replace("copies = 4", "copies ="))
    assert message.startswith("not valid TOML: ")
    assert "line 6" in message
    assert "not valid TOML" in sentence(VALID.replace("copies = 4", "copies = 4\ncopies = 5"))
    assert "not valid TOML" in sentence(VALID.replace("copies = 4", "copies = " + "9" * 5000))
    assert sentence(VALID.replace("copies = 4", "copies = 0x" + "f" * 5000)).endswith("not a value of type int.")


@pytest.mark.parametrize("entry", ["card = 3", "card = [3]", '[card]\nletter = "A"'])
def test_card_that_is_no_list_of_blocks_is_refused(entry: str) -> None:
    assert sentence(f'name = "x"\n{entry}') == (
        'key "card": must be a list of [[card]] blocks, one for each kind of card.'
    )


def test_empty_deck_is_refused() -> None:
    assert sentence("") == 'the deck lacks the key "name"; required keys are name, card.'
    assert sentence('name = "x"\ncard = []') == 'the "copies" of all cards add up to 0, but must add up to size = 32.'


def test_deck_of_31_cards_is_refused_by_file__P1(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(load_deck("reconstructed").to_toml().replace("copies = 4", "copies = 3", 1), encoding="utf-8")
    with pytest.raises(DeckError) as caught:
        load_deck(file)
    assert str(caught.value) == f'{file}: the "copies" of all cards add up to 31, but must add up to size = 32.'


def test_missing_or_unreadable_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DeckError, match=r"^mine\.toml: no such deck file\.$"):
        load_deck("mine.toml")
    with pytest.raises(DeckError, match=r"^mine\.toml: no such deck file\.$"):
        deck_from_toml("mine.toml")
    Path("folder.toml").mkdir()
    with pytest.raises(DeckError, match=r"^folder\.toml: cannot be read as a deck file \(.+\)\.$"):
        load_deck("folder.toml")
    Path("binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DeckError, match=r"^binary\.toml: not valid TOML, which is UTF-8 text\.$"):
        load_deck("binary.toml")


@pytest.mark.parametrize("name", ["true-list", "", "reconstructed "])
def test_unknown_deck_name_says_which_are_known(name: str) -> None:
    with pytest.raises(DeckError, match=r"^unknown deck .*; known by name: reconstructed, .* path that ends in \.toml"):
        load_deck(name)


def test_combination_larger_than_a_smaller_hand_is_refused(tmp_path: Path) -> None:
    deck = deck_from_toml(VALID)
    assert load_deck(deck, scored_hand_size=4) is deck
    with pytest.raises(DeckError) as caught:
        load_deck(deck, scored_hand_size=3)
    assert str(caught.value) == (
        'deck "mine": card "B:AACC", key "rules": no hand can hold "AACC"; '
        "a combination has at most the 3 letters of a scored hand."
    )
    file = tmp_path / "mine.toml"
    file.write_text(VALID, encoding="utf-8")
    with pytest.raises(DeckError) as caught:
        load_deck(file, scored_hand_size=3)
    assert str(caught.value).startswith(f"{file}: card ")


def test_deck_built_in_python_is_validated_alike__P2() -> None:
    card = Card("A", pays(A=1), pays(AA=5), copies=2)
    assert Deck("two", (card,), size=2).counts.tolist() == [2]
    with pytest.raises(
        DeckError, match=r'^deck "two": the "copies" of all cards add up to 2, but must .* size = 32\.$'
    ):
        Deck("two", (card,))
    with pytest.raises(DeckError, match=r'^deck "two": card 1 \(A:AAA\), key "rules": no hand can hold "AAA"; '):
        Deck("two", (Card("A", pays(A=1), pays(AAA=5), copies=2),), size=2)
    with pytest.raises(DeckError, match="the first rule must pay for one combination or more"):
        Card("A", (), pays(AA=5))
    with pytest.raises(DeckError, match="must be an integer from 1 to 1000"):
        Combination("A", 2.0)  # type: ignore[arg-type]


# ------------------------------------------------------------------ scoring


def brute_force(letters: str, rule: Rule) -> int:
    """Points of a rule, by taking one disjoint copy after the other out of the letters."""
    score = 0
    for combination in rule:
        left = list(letters)
        while all(left.count(letter) >= combination.letters.count(letter) for letter in combination.letters):
            for letter in combination.letters:
                left.remove(letter)
            score += combination.points
    return score


def hand_of(letters: str, deck: Deck, last: bool = False) -> list[int]:
    """Counts per kind of a hand of letters, with the first or the last kind of each letter."""
    place = {card.letter: kind for kind, card in enumerate(deck.cards)}
    if not last:
        place = {card.letter: kind for kind, card in reversed(list(enumerate(deck.cards)))}
    counts = [0] * deck.num_kinds
    for letter in letters:
        counts[place[letter]] += 1
    return counts


@pytest.mark.parametrize("deck", [load_deck("reconstructed"), random_deck(0), random_deck(1)], ids=str)
@pytest.mark.parametrize("last", [False, True])
def test_scores_equal_brute_force_on_every_hand_of_letters__P14_P15_P16(deck: Deck, last: bool) -> None:
    hands = ["".join(letters) for letters in combinations_with_replacement(LETTERS, 7)]
    assert len(hands) == 1716
    scores = score_hands(
        np.array([hand_of(letters, deck, last) for letters in hands])[:, np.newaxis],
        np.arange(deck.num_kinds)[:, np.newaxis],
        deck,
    )
    assert scores.dtype == np.int64
    assert scores.shape == (1716, deck.num_kinds, 1)
    expected = [[brute_force(letters, card.combinations) for card in deck.cards] for letters in hands]
    np.testing.assert_array_equal(scores[..., 0], expected)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("ABCDEFG", [51, 2, 2, 19]), ("AABBCCD", [2, 19, 19, 4]), ("AABBCCC", [2, 19, 19, 0])],
)
def test_rulebook_example_scores_74_then_44_and_40_with_a_third_c__P14_P17(letters: str, expected: list[int]) -> None:
    deck = load_deck("reconstructed")
    goals = [deck.kind_names.index(name) for name in ("A:ABCDEFG", "B:AACC", "B:AACC", "D:AG+CE+BF")]
    scores = score_hands(hand_of(letters, deck), goals, deck)
    assert scores.tolist() == expected
    assert scores.sum() in (74, 44, 40)


@pytest.mark.parametrize(("letters", "score"), [("DDFF", 10), ("DFF", 5), ("DD", 0)])
def test_combination_pays_per_disjoint_copy__P15(letters: str, score: int) -> None:
    deck = load_deck("reconstructed")
    goal = deck.kind_names.index("D:DF")
    assert score_hands(hand_of(letters, deck), [goal], deck).tolist() == [4 * letters.count("D") + score]


def test_one_card_serves_in_different_combinations__P16() -> None:
    deck = load_deck("reconstructed")
    goals = [deck.kind_names.index(name) for name in ("A:AABB", "B:AA")]
    assert score_hands(hand_of("AABB", deck), goals, deck).tolist() == [2 + 10, 4 + 7]


def test_equal_goals_each_score__P17() -> None:
    deck = load_deck("reconstructed")
    assert score_hands(hand_of("AAAG", deck), [0, 0, 0, 0], deck).tolist() == [3, 3, 3, 3]


def test_hands_and_goals_broadcast() -> None:
    deck = load_deck("reconstructed")
    rng = np.random.default_rng(0)
    hands = rng.multivariate_hypergeometric(deck.counts, 7, size=(5, 3)).astype(np.int8)
    goals = rng.integers(deck.num_kinds, size=(5, 1, 4))
    scores = score_hands(hands, goals, deck)
    assert scores.shape == (5, 3, 4)
    for game in range(5):
        for seat in range(3):
            one = score_hands(hands[game, seat], goals[game, 0], deck)
            np.testing.assert_array_equal(scores[game, seat], one)
    assert score_hands(hands[0, 0], goals, deck).shape == (5, 1, 4)
    assert score_hands(hands[:0], goals[:0], deck).shape == (0, 3, 4)


def test_ill_shaped_or_impossible_input_is_refused() -> None:
    deck = load_deck("reconstructed")
    hand = np.zeros(12, dtype=np.int64)
    with pytest.raises(ValueError, match=r"hands must have the shape \(\.\.\., 12\)"):
        score_hands(hand[:7], [0], deck)
    with pytest.raises(ValueError, match="goals must have the shape"):
        score_hands(hand, 0, deck)
    with pytest.raises(ValueError, match="integer arrays"):
        score_hands(hand.astype(float), [0], deck)
    with pytest.raises(ValueError, match="not fewer"):
        score_hands(hand - 1, [0], deck)
    for goal in (-1, 12):
        with pytest.raises(ValueError, match="kinds from 0 to 11"):
            score_hands(hand, [goal], deck)


# ------------------------------------------------------------------ random decks


def test_random_decks_keep_the_constraints_of_the_default() -> None:
    decks = [random_deck(seed) for seed in range(200)]
    prices: dict[int, tuple[int, int]] = {2: (5, 10), 3: (8, 12), 4: (10, 16), 5: (18, 24), 7: (50, 50)}
    for deck in decks:
        assert deck.counts.sum() == deck.size == 32
        assert deck.num_kinds <= 32
        assert np.bincount(deck.letters, weights=deck.counts).tolist() == [7, 6, 5, 5, 4, 3, 2]
        for card in deck.cards:
            assert card.first == (Combination(card.letter, LETTERS.index(card.letter) + 1),)
            assert card.provenance == "assumed"
            assert len(card.second) in (1, 3)
            for combination in card.second:
                low, high = prices[len(combination.letters)] if len(card.second) == 1 else (5, 5)
                assert low <= combination.points <= high
    assert len(set(decks)) == len({deck.cards for deck in decks}) == 200
    assert {len(card.second) for deck in decks for card in deck.cards} == {1, 3}
    assert {len(card.second[0].letters) for deck in decks for card in deck.cards} == {2, 3, 4, 5, 7}


def test_random_deck_depends_on_the_seed_alone() -> None:
    np.random.seed(3)
    first = random_deck(7)
    np.random.seed(4)
    assert random_deck(7) == random_deck(int(np.int64(7))) == first
    assert random_deck(8) != first
    assert random_deck(0).kind_names == (
        "A:ABCD",
        "A:BE",
        "A:ABCDEFG",
        "B:BDEG",
        "B:CF",
        "C:AF",
        "D:CC",
        "E:AA",
        "F:BCDE",
        "G:ABCDEFG",
    )
    assert random_deck(0).counts.tolist() == [1, 3, 3, 2, 4, 5, 5, 4, 3, 2]
    assert random_deck(0).points[:, 1].tolist() == [10, 8, 50, 14, 8, 8, 7, 9, 13, 50]


@pytest.mark.parametrize("seed", [-1, 1.5, "one", None])
def test_seed_that_is_no_number_is_refused(seed: object) -> None:
    with pytest.raises(DeckError, match="the seed must be an integer of 0 or more"):
        random_deck(seed)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------------- recordings


def test_a_recorded_game_of_another_deck_keeps_its_deck(tmp_path: Path) -> None:
    batch = Batch(make_game(LlamaLlamaConfig(num_players=3, deck=random_deck(5))), 2, seed=1)
    recorder, streams = Recorder(batch), policy_streams(2, 9)
    while (batch.to_move >= 0).any():
        recorder.step(batch.sample_actions(streams))
    write_games(tmp_path / "games.jsonl", recorder.games())
    assert read_games(tmp_path / "games.jsonl")[1].game is batch.game


# ------------------------------------------------------------------ tables and command line


def test_markdown_table_has_one_row_per_kind() -> None:
    lines = deck_table_markdown(load_deck("reconstructed")).splitlines()
    assert len(lines) == 14
    assert lines[0] == "| kind | letter | copies | first rule | second rule | provenance |"
    assert "| `D:AG+CE+BF` | D | 3 | D = 4 | AG / CE / BF = 5 | attested |" in lines


def test_alternatives_of_different_points_are_told_apart() -> None:
    assert Card("A", pays(A=1), pays(AB=5, CC=7, DD=7)).rules_text == ("A = 1", "AB = 5 / CC / DD = 7")


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "llama_envs.llama_llama.deck", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


def test_command_line_validates_and_prints_a_deck(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(VALID, encoding="utf-8")
    done = run("mine.toml", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == deck_table(deck_from_toml(VALID))
    assert done.stdout.splitlines()[:3] == [
        "mine: 12 cards of 3 kinds",
        "letter  copies  first rule  second rule      provenance",
        "A       5       A = 1       AB = 5 / CC = 7  assumed",
    ]
    markdown = run("--markdown", "reconstructed", folder=tmp_path)
    assert markdown.stdout == deck_table_markdown(load_deck("reconstructed"))


def test_command_line_tells_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(VALID.replace("AACC = 15", "AACC = -15"), encoding="utf-8")
    done = run("mine.toml", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        'mine.toml: card 1 (B), key "rules": the points of "AACC" must be an integer from 1 to 1000, not -15.\n'
    )


def test_command_line_explains_itself(tmp_path: Path) -> None:
    done = run("--help", folder=tmp_path)
    assert done.returncode == 0
    assert "usage: python -m llama_envs.llama_llama.deck" in done.stdout
    done = run(folder=tmp_path)
    assert done.returncode == 2
    assert "usage: python -m llama_envs.llama_llama.deck" in done.stderr
