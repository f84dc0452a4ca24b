"""Exact resource quantities.

A quantity is held as an integer number of *nano* units (10^-9), the finest that Kubernetes keeps, so that sums and
comparisons are exact and fast. `kubernetes.utils.quantity` has the same grammar on Decimal; it is not used here because
importing it costs most of a second on the command line and Decimal rounds past 28 digits (1Ei in nano units has 28).
The unit test compares the two.

Source: k8s.io/apimachinery/pkg/api/resource/quantity.go.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, Decimal, localcontext
from functools import lru_cache
from typing import Final

from lws_volcano.api.errors import QuantityError

__all__ = [
    "NANO",
    "Resources",
    "add",
    "format_quantity",
    "format_resources",
    "parse_quantity",
    "parse_resources",
    "scale",
]

NANO: Final = 10**9
"""Nano units in one unit."""

Resources = Mapping[str, int]
"""Resource name -> nano units."""

_GRAMMAR: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+|n|u|m|k|M|G|T|P|E)?")
_SUFFIX: Final = {
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "": Decimal(1),
    "k": Decimal("1e3"), "M": Decimal("1e6"), "G": Decimal("1e9"), "T": Decimal("1e12"),
    "P": Decimal("1e15"), "E": Decimal("1e18"),
    "Ki": Decimal(2**10), "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40),
    "Pi": Decimal(2**50), "Ei": Decimal(2**60),
}  # fmt: skip
_BINARY: Final = [("Ei", 2**60), ("Pi", 2**50), ("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10), ("", 1)]
_DECIMAL: Final = [(NANO, ""), (10**6, "m"), (10**3, "u"), (1, "n")]
_MAX_EXPONENT: Final = 40
_MAX_LENGTH: Final = 64


def parse_quantity(value: str | float) -> int:
    """Nano units of a quantity as manifests write it, rounded up to the next nano unit as Kubernetes does.

    Raises
    ------
    QuantityError
        The value is not a quantity, or is negative.

    Examples
    --------
    >>> parse_quantity("1.5Gi") == 1610612736 * NANO, parse_quantity("1e3") // NANO, parse_quantity("100m")
    (True, 1000, 100000000)
    """
    return _parse(value if isinstance(value, str) else repr(value))


@lru_cache(maxsize=4096)
def _parse(text: str) -> int:
    match = _GRAMMAR.fullmatch(text.strip()) if len(text) <= _MAX_LENGTH else None
    if match is None:
        raise QuantityError(
            f"{text[:_MAX_LENGTH]!r} is not a quantity",
            mend="write a number with an optional suffix, such as 500m, 2, 1.5Gi or 1e3",
        )
    number, suffix = match[1], match[2] or ""
    with localcontext(prec=200):
        scale = _SUFFIX.get(suffix)
        if scale is None:
            exponent = int(suffix[1:])
            if abs(exponent) > _MAX_EXPONENT:
                raise QuantityError(f"{text!r} is out of range", mend="use an exponent between -40 and 40")
            scale = Decimal(10) ** exponent
        nano = int((Decimal(number) * scale * NANO).to_integral_value(rounding=ROUND_CEILING))
    if nano < 0:
        raise QuantityError(f"{text!r} is negative", mend="a resource request must not be below 0")
    return nano


def format_quantity(nano: int, *, binary: bool = False) -> str:
    """Text of a quantity: a whole number (`binary`: with the largest suffix that divides it), else milli, micro, nano.

    Examples
    --------
    >>> format_quantity(200_000_000), format_quantity(1400 * 2**30 * NANO, binary=True)
    ('200m', '1400Gi')
    """
    unit, suffix = next((unit, suffix) for unit, suffix in _DECIMAL if nano % unit == 0)
    whole = nano // unit
    if binary and not suffix and whole:
        factor, suffix = next((factor, name) for name, factor in _BINARY if whole % factor == 0)
        whole //= factor
    return f"{whole}{suffix}"


def parse_resources(raw: Mapping[str, str | float]) -> dict[str, int]:
    """Resource name -> nano units; the error of a bad value names its resource."""
    parsed: dict[str, int] = {}
    for name, value in raw.items():
        try:
            parsed[name] = parse_quantity(value)
        except QuantityError as error:
            raise QuantityError(error.what, where=name, mend=error.mend) from None
    return parsed


def format_resources(resources: Resources) -> dict[str, str]:
    """Manifest form, sorted by name, without zero values."""
    return {name: format_quantity(nano, binary=_counts_bytes(name)) for name, nano in sorted(resources.items()) if nano}


def _counts_bytes(name: str) -> bool:
    return name.removeprefix("requests.") in {"memory", "ephemeral-storage"} or "hugepages-" in name


def add(parts: Iterable[Resources]) -> dict[str, int]:
    """Sum by resource name."""
    total: dict[str, int] = {}
    for part in parts:
        for name, nano in part.items():
            total[name] = total.get(name, 0) + nano
    return total


def scale(resources: Resources, factor: int) -> dict[str, int]:
    """Every value times a whole number."""
    return {name: nano * factor for name, nano in resources.items()}
