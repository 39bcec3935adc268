"""The linter of generated sentences."""

import pytest

from study.analysis import words


@pytest.mark.parametrize(
    ("look", "frame", "found"),
    [
        (words.comparative, "A is faster than B.", "faster"),
        (words.comparative, "A huge effect.", "huge"),
        (words.comparative, "A gains a lot.", "gains"),
        (words.comparative, "The ratio is {ratio}.", ""),
        (words.comparative, "Almost linear.", "Almost"),
        (words.comparative, "A justification.", ""),
        (words.cause, "It waits because of B.", "because"),
        (words.cause, "Due to heat it waits.", "Due to"),
        (words.cause, "A measures B.", ""),
        (words.time_to_train, "It trains faster.", "trains faster"),
        (words.time_to_train, "Time to train fell.", "Time to train"),
        (words.time_to_train, "Training throughput is {rate}.", ""),
        (words.digit, "It is 2 times {a}.", "2"),
        (words.digit, "It is two times {a}.", ""),
    ],
)
def test_words_are_found_whole_and_in_any_case(look, frame, found):
    """Whole words, capital or not; slots and longer words are left alone."""
    assert look(frame) == found
