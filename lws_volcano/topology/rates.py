"""Bandwidth and latency as people write them, held exactly.

Bandwidth is in GB/s (10^9 bytes a second), latency in microseconds. `GB/s` counts bytes, `Gb/s` and `Gbps` count bits.
"""

import re
from fractions import Fraction
from typing import Final

from lws_volcano.api.errors import TopologyError

__all__ = ["format_bandwidth", "format_latency", "parse_bandwidth", "parse_latency"]

_NUMBER: Final = r"([0-9]{1,15}(?:\.[0-9]{1,15})?)"
_RATE: Final = re.compile(_NUMBER + r"\s*(?:([kKMGT]?)(i?)([bB])(?:/s|ps|it/s|its/s|yte/s|ytes/s))?")
_PREFIXES: Final = ("", "k", "m", "g", "t")
_LATENCY: Final = re.compile(_NUMBER + r"\s*(ns|us|µs|ms|s)")
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
    number, unit = Fraction(match[1]), match[4]
    if unit is None:
        return number
    power: int = _PREFIXES.index(match[2].lower())
    scale = Fraction(pow(1024 if match[3] else 1000, power), 10**9)
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
    return f"{_decimal(rate)}GB/s"


def format_latency(micros: Fraction) -> str:
    """Text that `parse_latency` reads back to the same value where it has a finite decimal form."""
    return f"{_decimal(micros)}us"


def _decimal(value: Fraction) -> str:
    """All decimals, or six significant digits where they never end."""
    for digits in range(40):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            whole, part = divmod(scaled.numerator, 10**digits)
            return f"{whole}.{part:0{digits}d}" if digits else str(whole)
    return f"{float(value):.6g}"
