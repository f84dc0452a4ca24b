"""Quantities: grammar, exactness, canonical text. The grammar is compared with the `kubernetes` package.

Left out: how sums of pods are made (test_requests).
"""

import doctest
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity as reference

from lws_volcano.api import quantity
from lws_volcano.api.errors import QuantityError
from lws_volcano.api.quantity import NANO, add, format_quantity, format_resources, parse_quantity, parse_resources

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]


@given(st.integers(0, 10**6), st.integers(0, 999), st.sampled_from(SUFFIXES))
def test_same_number_as_the_reference(whole, thousandths, suffix):
    """Every suffix means what the kubernetes package says it means, where that is a whole number of nano units."""
    text = f"{whole}.{thousandths:03d}{suffix}"
    expected = Fraction(reference(text)) * NANO
    assert parse_quantity(text) == math.ceil(expected)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("1e3", 1000),
        ("1E3", 1000),
        (".5", 0.5),
        ("5.", 5),
        ("+1", 1),
        ("100n", 1e-7),
        ("250u", 0.00025),
        (12e6, 12_000_000),
    ],
)
def test_every_legal_spelling(text, units):
    """Exponents, bare points, signs and YAML floats."""
    assert parse_quantity(text) == round(units * NANO)


@pytest.mark.parametrize(
    "text", ["", "x", "1 Gi", "1gi", "1KI", "--1", "1e", "1.2.3", "0x10", "1e999", "9" * 100, "nan", "inf"]
)
def test_refuses_what_kubernetes_refuses(text):
    """A value that is no quantity is named in the error, with a way to mend it."""
    with pytest.raises(QuantityError, match=r"; (write|use|a resource)"):
        parse_quantity(text)


def test_refuses_negative():
    """A request below zero is refused."""
    with pytest.raises(QuantityError, match="negative"):
        parse_quantity("-1")


def test_error_names_the_resource():
    """In a list of resources the error says which one."""
    with pytest.raises(QuantityError) as caught:
        parse_resources({"cpu": "1", "nvidia.com/gpu": "eight"})
    assert caught.value.where == "nvidia.com/gpu"


def test_sums_are_exact_past_28_digits():
    """1Ei in nano units has 28 digits; one nano unit more must not be lost."""
    total = add([parse_resources({"memory": "1Ei"}), {"memory": 1}])
    assert total["memory"] == 2**60 * NANO + 1


@given(st.integers(0, 10**30), st.booleans())
def test_text_round_trip(nano, binary):
    """Formatting loses nothing."""
    assert parse_quantity(format_quantity(nano, binary=binary)) == nano


def test_bytes_are_written_with_binary_suffixes_and_zero_is_left_out():
    """Memory reads as people write it; a zero value disappears."""
    parsed = parse_resources({"memory": "1400Gi", "cpu": "0.2", "nvidia.com/gpu": "0", "requests.memory": "1Ki"})
    assert format_resources(parsed) == {"cpu": "200m", "memory": "1400Gi", "requests.memory": "1Ki"}


def test_doctests():
    """The examples in the docstrings hold."""
    assert doctest.testmod(quantity).failed == 0
