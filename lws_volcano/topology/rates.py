"""Bandwidth and latency as people write them, held exactly.

Bandwidth is in GB/s (10^9 bytes a second), latency in microseconds. `GB/s` counts bytes, `Gb/s` and `Gbps` count bits.
"""

import re
from fractions import Fraction
from typing import Final

from lws_volcano.api.errors import TopologyError

__all__ = ["format_bandwidth", "parse_bandwidth", "parse_latency"]

_RATE: Final = re.compile(
    r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?:([kKMGT]?)(i?)([bB])(?:/s|ps|it/s|its/s|yte/s|ytes/s))?"
)
_SCALE: Final = {
    "": Fraction(1, 10**9),
    "k": Fraction(1, 10**6),
    "M": Fraction(1, 1000),
    "G": Fraction(1),
    "T": Fraction(1000),
}
_BINARY: Final = {"": 0, "k": 1, "M": 2, "G": 3, "T": 4}
_LATENCY: Final = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(ns|us|µs|ms|s)")
_MICROSECONDS: Final = {"ns": Fraction(1, 1000), "us": Fraction(1), "ms": Fraction(1000), "s": Fraction(10**6)}


def parse_bandwidth(value: str | float) -> Fraction:
    """GB/s as an exact fraction; a bare number is GB/s already.

    Raises
    ------
    TopologyError
        Not a rate, or zero.

    Examples
    --------
    >>> parse_bandwidth("400Gb/s"), parse_bandwidth("12.5GB/s"), parse_bandwidth(25)
    (Fraction(50, 1), Fraction(25, 2), Fraction(25, 1))
    """
    text = value.strip() if isinstance(value, str) else repr(value)
    match = _RATE.fullmatch(text)
    if match is None or not Fraction(match[1]):
        raise TopologyError(f"bandwidth {text[:40]!r} is not a rate above zero", mend="write it as 50GB/s or 400Gb/s")
    number, prefix, binary, unit = Fraction(match[1]), (match[2] or "").lower().replace("m", "M"), match[3], match[4]
    if unit is None:
        return number
    prefix = {"g": "G", "t": "T"}.get(prefix, prefix)
    scale = Fraction(1024 ** _BINARY[prefix], 10**9) if binary else _SCALE[prefix]
    return number * scale / (8 if unit == "b" else 1)


def parse_latency(value: str | float) -> Fraction:
    """Microseconds as an exact fraction; a bare number is microseconds already.

    Raises
    ------
    TopologyError
        Not a time.
    """
    text = value.strip() if isinstance(value, str) else f"{value!r}us"
    match = _LATENCY.fullmatch(text)
    if match is None:
        raise TopologyError(f"latency {text[:40]!r} is not a time", mend="write it as 800ns, 2us or 1.5ms")
    return Fraction(match[1]) * _MICROSECONDS[match[2].replace("µ", "u")]


def format_bandwidth(rate: Fraction) -> str:
    """Text that `parse_bandwidth` reads back to the same value where it has a finite decimal form.

    Examples
    --------
    >>> format_bandwidth(Fraction(25, 2)), format_bandwidth(Fraction(50))
    ('12.5GB/s', '50GB/s')
    """
    for digits in range(16):
        scaled = rate * 10**digits
        if scaled.denominator == 1:
            whole, part = divmod(scaled.numerator, 10**digits)
            return f"{whole}.{part:0{digits}d}GB/s" if digits else f"{whole}GB/s"
    return f"{float(rate):.6g}GB/s"
