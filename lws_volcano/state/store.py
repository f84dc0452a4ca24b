"""The views of one kind, by key and by index.

A store is fed from two sides: by the watch (`replace`, `upsert`, `remove`, `reach`) and by our own writes (`wrote`,
`deleted`), so that a pass never reads a state from before its own last write. Which of the two is newer is told by the
resource version, which counts upwards within a kind (KEP-5504):

- `floor` is the version up to which the watch has told everything: what we wrote at or below it is old news.
- What we wrote above it stays until the watch has passed it, also through a list made before the write.
- A UID that we deleted does not come back, whatever a late event says.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

__all__ = ["Difference", "Index", "Store", "Stored"]


class Stored(Protocol):
    """What a store keeps: a view of `api`, or something slimmer."""

    @property
    def key(self) -> str:
        """`namespace/name`, or the name."""
        ...

    @property
    def uid(self) -> str:
        """UID of the object."""
        ...


T = TypeVar("T", bound=Stored)

Index = Callable[[T], Iterable[str]]
"""The values under which an object is found."""


@dataclass(frozen=True, slots=True)
class Difference(Generic[T]):
    """What became of one object: `old` None for a new one, `new` None for one that is gone."""

    old: T | None
    new: T | None

    @property
    def either(self) -> T:
        """The newer of the two that is there."""
        found = self.new if self.new is not None else self.old
        if found is None:
            raise ValueError("a difference has two sides, and one of them is an object")
        return found


class Store(Generic[T]):
    """Views of one kind.

    Parameters
    ----------
    indexes
        Name -> function giving the values of an object under that index. `by` looks them up in constant time.
    """

    def __init__(self, indexes: Mapping[str, Index[T]] | None = None) -> None:
        self._indexes = dict(indexes or {})
        self._items: dict[str, T] = {}
        self._versions: dict[str, int] = {}
        self._entries: dict[str, dict[str, dict[str, None]]] = {name: {} for name in self._indexes}
        self._written: dict[str, int] = {}
        self._deleted: set[str] = set()
        self.floor = 0
        self.missing = ""
        """Why the kind cannot be read (no such kind, no permission); empty when it can, or nothing is known yet."""
        self.synced = False
        """It has been listed once, and can be read as far as is known."""

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(list(self._items.values()))

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def get(self, key: str) -> T | None:
        """The object of this key."""
        return self._items.get(key)

    def names(self) -> list[str]:
        """All keys, as of now."""
        return list(self._items)

    @property
    def items(self) -> dict[str, T]:
        """Key -> object, live: to be read, never to be written."""
        return self._items

    def by(self, index: str, value: str) -> tuple[T, ...]:
        """The objects with this value under an index, in the order in which they came."""
        return tuple(self._items[key] for key in self._entries[index].get(value, ()))

    def values_of(self, index: str) -> list[str]:
        """The values that there are under an index."""
        return list(self._entries[index])

    def replace(self, items: Iterable[tuple[T, int]], version: int) -> list[Difference[T]]:
        """Take a whole list, made at `version`; gives what differs from before."""
        differences = []
        listed: set[str] = set()
        uids: set[str] = set()
        for item, item_version in items:
            listed.add(item.key)
            uids.add(item.uid)
            if item.uid not in self._deleted and self._written.get(item.key, 0) <= max(version, item_version):
                differences.append(self._put(item, item_version))
        gone = [key for key in self._items if key not in listed and self._written.get(key, 0) <= version]
        differences.extend(self._drop(key) for key in gone)
        self._deleted &= uids
        # A list may be older than what was seen before it, after the server's data was restored.
        self.floor = version
        self._confirm(version)
        self.missing = ""
        self.synced = True
        return [difference for difference in differences if difference is not None]

    def upsert(self, item: T, version: int) -> Difference[T] | None:
        """Take an object from the watch; None when it is not news."""
        self.floor = max(self.floor, version)
        if item.uid in self._deleted or version < self._versions.get(item.key, 0):
            return None
        self._written.pop(item.key, None)
        return self._put(item, version)

    def remove(self, key: str, uid: str, version: int) -> Difference[T] | None:
        """Take a deletion from the watch; an object that has come under the same name since stays."""
        self.floor = max(self.floor, version)
        self._deleted.discard(uid)
        present = self._items.get(key)
        return self._drop(key) if present is not None and present.uid == uid else None

    def reach(self, version: int) -> None:
        """Take a bookmark: the watch has told everything up to here."""
        self.floor = max(self.floor, version)
        self._confirm(version)

    def wrote(self, item: T, version: int) -> Difference[T] | None:
        """Take the answer to a write of ours; the watch brings the same later."""
        if version <= max(self.floor, self._versions.get(item.key, 0)) or item.uid in self._deleted:
            return None
        self._written[item.key] = version
        return self._put(item, version)

    def deleted(self, key: str, uid: str) -> Difference[T] | None:
        """Take note that the object of this UID is gone because we deleted it."""
        present = self._items.get(key)
        if present is None or present.uid != uid:
            return None
        self._deleted.add(uid)
        return self._drop(key)

    def clear(self, missing: str) -> list[Difference[T]]:
        """The kind cannot be read any more: forget everything and say why."""
        differences = [self._drop(key) for key in list(self._items)]
        self.missing = missing
        self.synced = False
        return [difference for difference in differences if difference is not None]

    def _confirm(self, version: int) -> None:
        self._written = {key: written for key, written in self._written.items() if written > version}

    def _put(self, item: T, version: int) -> Difference[T] | None:
        old = self._items.get(item.key)
        same = self._versions.get(item.key) == version and old is not None and old.uid == item.uid
        if same and version:
            return None
        if old is not None:
            self._unindex(old)
        self._items[item.key] = item
        self._versions[item.key] = version
        for name, values in self._indexes.items():
            for value in values(item):
                self._entries[name].setdefault(value, {})[item.key] = None
        return Difference(old, item)

    def _drop(self, key: str) -> Difference[T] | None:
        old = self._items.pop(key, None)
        if old is None:
            return None
        self._versions.pop(key, None)
        self._written.pop(key, None)
        self._unindex(old)
        return Difference(old, None)

    def _unindex(self, item: T) -> None:
        for name, values in self._indexes.items():
            for value in values(item):
                entry = self._entries[name].get(value, {})
                entry.pop(item.key, None)
                if not entry:
                    self._entries[name].pop(value, None)
