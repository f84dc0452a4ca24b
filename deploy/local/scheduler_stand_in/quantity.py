"""Resource quantities and pod requests, independent of the product's own so that a mistake there shows."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

__all__ = ["Room", "add", "fits", "pod_requests", "resources", "subtract"]

Room = dict[str, Decimal]
"""Resource name -> amount in base units."""

_SUFFIXES: Final = {
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", 1)},
    **{letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", 1)},
    "m": Decimal("0.001"),
    "u": Decimal("0.000001"),
    "n": Decimal("0.000000001"),
}


@lru_cache(maxsize=4096)
def amount(text: str) -> Decimal:
    """Value of a quantity as manifests write it."""
    for suffix, factor in _SUFFIXES.items():
        if text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) * factor
    return Decimal(text)


def resources(raw: Mapping[str, Any] | None) -> Room:
    """Amounts of a resource list."""
    return {name: amount(str(value)) for name, value in (raw or {}).items()}


def add(rooms: Iterable[Room]) -> Room:
    """Sum by name."""
    total: Room = {}
    for room in rooms:
        for name, value in room.items():
            total[name] = total.get(name, Decimal(0)) + value
    return total


def subtract(room: Room, taken: Room) -> None:
    """Take from `room`, in place; what it does not have becomes negative."""
    for name, value in taken.items():
        room[name] = room.get(name, Decimal(0)) - value


def fits(wanted: Room, room: Room) -> bool:
    """Everything wanted is there."""
    return all(value <= room.get(name, Decimal(0)) for name, value in wanted.items() if value)


def pod_requests(spec: Mapping[str, Any]) -> Room:
    """What a pod takes, one pod slot included."""
    running = [_request(one) for one in spec["containers"]]
    started: list[Room] = []
    peaks: list[Room] = []
    for one in spec.get("initContainers") or ():
        if one.get("restartPolicy") == "Always":
            started.append(_request(one))
            peaks.append(add(started))
        else:
            peaks.append(add([*started, _request(one)]))
    total = add([*running, *started])
    for peak in peaks:
        total = {
            name: max(total.get(name, Decimal(0)), peak.get(name, Decimal(0))) for name in total.keys() | peak.keys()
        }
    whole = _request(spec)
    total |= {
        name: value for name, value in whole.items() if name in {"cpu", "memory"} or name.startswith("hugepages-")
    }
    return add([total, resources(spec.get("overhead")), {"pods": Decimal(1)}])


def _request(holder: Mapping[str, Any]) -> Room:
    listed = holder.get("resources") or {}
    return resources({**(listed.get("limits") or {}), **(listed.get("requests") or {})})
