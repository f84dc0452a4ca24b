"""What is free, kept from the changes of nodes and pods.

`state` feeds one `Capacity` from its watches. A change costs O(1) plus, for each pair of shapes in use, O(depth) when
that pair is planned next. Planning reads tallies; groups that were planned and are not bound yet hold their place by
`reserve`, for good or inside a `trial`.

Not thread-safe: planning and feeding share one thread, and nothing here waits.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

from lws_volcano.api.cluster import Node
from lws_volcano.api.errors import QuantityError
from lws_volcano.api.names import EXCLUSIVE_TOPOLOGY, GROUP_KEY, GROUP_NAME, HOSTNAME, WORKER_INDEX
from lws_volcano.api.pods import Pod
from lws_volcano.placement.demand import Demand
from lws_volcano.placement.forest import Forest
from lws_volcano.placement.fullness import Fullness
from lws_volcano.placement.ring import Ring
from lws_volcano.placement.room import Room
from lws_volcano.placement.shape import Shape, pod_shape
from lws_volcano.placement.tally import Tally
from lws_volcano.topology.model import Topology

__all__ = ["Capacity", "Member", "Seat", "Trial", "member_of", "seat_of"]

_TALLIES: Final = 64
"""Pairs of shapes that are kept warm."""


class Member(NamedTuple):
    """A pod's identity inside its group: PodGroup key and rank."""

    group: str
    rank: int


@dataclass(frozen=True, slots=True)
class Seat:
    """What one pod takes, and of whom it is.

    `alone_on` is on leaders with exclusive topology: the node label whose value their group has to itself.
    """

    node: str
    shape: Shape
    group_key: str
    member: Member | None
    alone_on: str = ""


def member_of(pod: Pod) -> Member | None:
    """Which member of which group a pod is; None for pods that are in none, or whose rank is not known yet."""
    group = pod.metadata.annotations.get(GROUP_NAME, "")
    rank = pod.metadata.labels.get(WORKER_INDEX, "")
    return Member(f"{pod.namespace}/{group}", int(rank)) if group and rank.isdecimal() else None


class Capacity:
    """Nodes, what sits on them, and what is promised.

    Parameters
    ----------
    topology : Topology, optional
        Without one every node is its own domain.
    """

    def __init__(self, topology: Topology | None = None) -> None:
        self._rooms_by_name: dict[str, Room] = {}
        self._pods: dict[str, Seat] = {}
        self._bound: dict[Member, str] = {}
        self._held: dict[str, dict[int, Seat]] = {}
        self._alone: dict[str, Counter[Seat]] = {}
        self._whose: dict[str, Demand] = {}
        self.set_topology(topology)

    def set_topology(self, topology: Topology | None) -> None:
        """Use another topology; what sits where is kept, tallies are counted anew when asked for."""
        self.forest = Forest(topology)
        self.ring = Ring(self.forest)
        self.rooms: list[Room] = [self._room_named(name) for name in self.forest.names]
        self._tallies: OrderedDict[tuple[Shape, Shape], Tally] = OrderedDict()
        self._fullness: Fullness | None = None
        for name in sorted(self._rooms_by_name):
            self.place(name)

    @property
    def topology(self) -> Topology | None:
        """The topology in use."""
        return self.forest.topology

    def _room_named(self, name: str) -> Room:
        room = self._rooms_by_name.get(name)
        if room is None:
            room = self._rooms_by_name[name] = Room(name)
        return room

    def place(self, name: str) -> int:
        """Place of a node; one that was never seen gets an empty room."""
        place = self.forest.place(name)
        if place == len(self.rooms):
            self.rooms.append(self._room_named(name))
        return place

    def room(self, name: str) -> Room:
        """A node's room (an empty one for a node that was never seen)."""
        return self._rooms_by_name.get(name) or Room(name)

    def hostname(self, name: str) -> str:
        """Value of the node's host name label: what affinity terms must list."""
        room = self._rooms_by_name.get(name)
        return name if room is None or room.node is None else room.node.metadata.labels.get(HOSTNAME, name)

    def node_names(self) -> tuple[str, ...]:
        """Nodes that exist, sorted."""
        return tuple(sorted(name for name, room in self._rooms_by_name.items() if room.node is not None))

    # --- nodes

    def upsert_node(self, node: Node) -> None:
        """A node came or changed.

        Raises
        ------
        QuantityError
            An allocatable value is no quantity; the node then keeps what was known of it.
        """
        place = self.place(node.name)
        self.rooms[place].describe(node)
        self._touch(place)

    def remove_node(self, name: str) -> None:
        """A node is gone; pods that are still listed on it are remembered in case it comes back."""
        place = self.place(name)
        self.rooms[place].describe(None)
        self._touch(place)

    def _touch(self, place: int) -> None:
        for tally in self._tallies.values():
            tally.dirty.add(place)
        if self._fullness is not None:
            self._fullness.dirty.add(place)

    # --- pods

    def bind(self, pod: Pod) -> None:
        """A pod was seen: with a node and not finished it takes room there, else none. The same pod may come again.

        Raises
        ------
        QuantityError
            A request is no quantity (only in files: the API server refuses such pods).
        """
        identity = pod.uid or pod.key
        if not pod.bound or pod.finished:
            self.unbind(identity)
            return
        self.occupy(identity, seat_of(pod))

    def occupy(self, identity: str, seat: Seat) -> None:
        """As `bind`, for a bound pod that was read into its seat before."""
        if self._pods.get(identity) == seat:
            return
        self.unbind(identity)
        self._pods[identity] = seat
        if seat.member is not None:
            self._bound[seat.member] = identity
            self._drop_hold(seat.member)
        self._sit(seat)

    def unbind(self, identity: str) -> None:
        """A pod is gone, by UID (or namespace/name when it had none). Unknown ones are ignored."""
        seat = self._pods.pop(identity, None)
        if seat is None:
            return
        if seat.member is not None and self._bound.get(seat.member) == identity:
            del self._bound[seat.member]
        self._leave(seat)

    def exclusive(self, namespace: str) -> Iterable[Seat]:
        """Leaders of the namespace whose groups have a label value to themselves, bound or promised."""
        return self._alone.get(namespace, ())

    def _sit(self, seat: Seat) -> None:
        if seat.alone_on:
            self._alone.setdefault(_namespace(seat), Counter())[seat] += 1
        place = self.place(seat.node)
        self.rooms[place].take(seat.shape, seat.group_key)
        self._touch(place)

    def _leave(self, seat: Seat) -> None:
        if seat.alone_on:
            there = self._alone[_namespace(seat)]
            there[seat] -= 1
            if not there[seat]:
                del there[seat]
        place = self.place(seat.node)
        self.rooms[place].give(seat.shape, seat.group_key)
        self._touch(place)

    # --- promises

    def reserve(self, demand: Demand, nodes: Mapping[int, str]) -> None:
        """Hold the nodes (by rank) for a planned group until its pods are bound; replaces what it held before."""
        self.release(demand.key)
        held: dict[int, Seat] = {}
        for rank, node in nodes.items():
            if rank not in demand.bound and Member(demand.key, rank) not in self._bound:
                alone_on = "" if rank else demand.rules.exclusive_key
                held[rank] = Seat(node, demand.shape(rank), demand.identity, None, alone_on)
        for seat in held.values():
            self._sit(seat)
        if held:
            self._held[demand.key] = held
            self._whose[demand.key] = demand

    def release(self, key: str) -> None:
        """Give up what a group holds, by its key."""
        self._whose.pop(key, None)
        for seat in self._held.pop(key, {}).values():
            self._leave(seat)

    def reserved(self, key: str) -> Mapping[int, str]:
        """Rank -> node that is held for a group."""
        return {rank: seat.node for rank, seat in self._held.get(key, {}).items()}

    def reservations(self) -> tuple[str, ...]:
        """Keys of the groups that hold something, sorted."""
        return tuple(sorted(self._held))

    def promised(self) -> Iterator[Demand]:
        """The groups that hold something, as they were when it was reserved, by key."""
        return (self._whose[key] for key in self.reservations())

    def _drop_hold(self, member: Member) -> None:
        held = self._held.get(member.group, {})
        seat = held.pop(member.rank, None)
        if seat is not None:
            self._leave(seat)
        if not held:
            self._held.pop(member.group, None)
            self._whose.pop(member.group, None)

    @contextmanager
    def trial(self) -> Iterator["Trial"]:
        """Holds made inside end with it: an overlay, not a copy."""
        trial = Trial(self)
        try:
            yield trial
        finally:
            trial.undo()

    @contextmanager
    def without(self, key: str) -> Iterator[None]:
        """What a group holds counts as free inside: it is planned anew."""
        held = self._held.pop(key, {})
        for seat in held.values():
            self._leave(seat)
        try:
            yield
        finally:
            for seat in held.values():
                self._sit(seat)
            if held:
                self._held[key] = held

    @contextmanager
    def without_promises(self, most: int) -> Iterator[None]:
        """What other groups hold counts as free inside, up to `most` pods, those planned last first."""
        with ExitStack() as stack:
            for key in reversed(list(self._held)):
                most -= len(self._held[key])
                if most < 0:
                    break
                # The stack gives them back in reverse, so the order of the promises stays as it was.
                stack.enter_context(self.without(key))
            yield

    # --- reading

    def tally(self, leader: Shape, worker: Shape) -> Tally:
        """Counts for a pair of shapes, up to date; the first time costs O(nodes)."""
        key = (leader, worker)
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = Tally(self.forest, leader, worker, self.rooms)
            if len(self._tallies) > _TALLIES:
                self._tallies.popitem(last=False)
        else:
            self._tallies.move_to_end(key)
        tally.refresh()
        return tally

    @property
    def fullness(self) -> Fullness:
        """How full domains are for the scheduler; the first time costs O(nodes)."""
        if self._fullness is None:
            self._fullness = Fullness(self.forest, self.rooms)
        return self._fullness

    def feed(self, nodes: Iterable[Node] = (), pods: Iterable[Pod] = ()) -> "Capacity":
        """Many nodes and pods at once; returns itself."""
        for node in nodes:
            self.upsert_node(node)
        for pod in pods:
            self.bind(pod)
        return self


class Trial:
    """Holds that end together."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity = capacity
        self._before: list[tuple[str, dict[int, Seat], Demand | None]] = []

    def hold(self, demand: Demand, nodes: Mapping[int, str]) -> None:
        """As `Capacity.reserve`, until the trial ends."""
        key, capacity = demand.key, self._capacity
        self._before.append((key, dict(capacity._held.get(key, {})), capacity._whose.get(key)))  # noqa: SLF001
        capacity.reserve(demand, nodes)

    def undo(self) -> None:
        """Put back what was held before."""
        capacity = self._capacity
        for key, seats, whose in reversed(self._before):
            capacity.release(key)
            for seat in seats.values():
                capacity._sit(seat)  # noqa: SLF001
            if seats and whose is not None:
                capacity._held[key], capacity._whose[key] = seats, whose  # noqa: SLF001
        self._before.clear()


def seat_of(pod: Pod) -> Seat:
    """What a bound pod takes.

    Raises
    ------
    QuantityError
        A request is no quantity.
    """
    group = pod.metadata.labels.get(GROUP_KEY, "")
    try:
        shape = pod_shape(pod.spec, pod.metadata.labels)
    except QuantityError as error:
        raise QuantityError(error.what, where=f"pod {pod.key}, {error.where}", mend=error.mend) from None
    member = member_of(pod)
    alone_on = pod.metadata.annotations.get(EXCLUSIVE_TOPOLOGY, "") if member is not None and not member.rank else ""
    return Seat(pod.spec.node_name, shape, f"{pod.namespace}/{group}" if group else "", member, alone_on)


def _namespace(seat: Seat) -> str:
    return seat.group_key.partition("/")[0]
