"""Bandwidth and latency as people write them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lws_volcano.api.errors import TopologyError
from lws_volcano.topology.rates import format_bandwidth, parse_bandwidth, parse_latency


@pytest.mark.parametrize(
    ("written", "gigabytes"),
    [
        ("50GB/s", 50), ("400Gb/s", 50), ("400Gbps", 50), ("12.5 GB/s", Fraction(25, 2)), ("1TB/s", 1000),
        ("800Gbit/s", 100), (25, 25), ("3.2Tb/s", 400), ("100MB/s", Fraction(1, 10)),
        ("1GiB/s", Fraction(2**30, 10**9)), ("25", 25),
    ],
)  # fmt: skip
def test_bandwidths(written: str | int, gigabytes: Fraction | int) -> None:
    """Bytes and bits, decimal and binary prefixes, exactly."""
    assert parse_bandwidth(written) == gigabytes


@pytest.mark.parametrize(
    "written", ["", "fast", "0", "0GB/s", "-1GB/s", "50GB", "1e3GB/s", "GB/s", "1.5.2GB/s", "\u0663GB/s"]
)
def test_what_is_no_bandwidth(written: str) -> None:
    """Refused with an example of how to write it."""
    with pytest.raises(TopologyError, match="50GB/s"):
        parse_bandwidth(written)


@pytest.mark.parametrize(("written", "micros"), [("800ns", Fraction(4, 5)), ("2us", 2), ("1.5ms", 1500), (3, 3)])
def test_latencies(written: str | int, micros: Fraction | int) -> None:
    """Microseconds."""
    assert parse_latency(written) == micros


@given(st.integers(1, 10**9), st.integers(0, 9))
def test_formatting_is_undone_by_parsing(number: int, digits: int) -> None:
    """Every decimal rate survives the way to a file and back."""
    rate = Fraction(number, 10**digits)
    assert parse_bandwidth(format_bandwidth(rate)) == rate
