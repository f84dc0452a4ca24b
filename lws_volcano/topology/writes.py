"""The order in which HyperNodes are written, such that they are strict trees after every single write.

After each write:

- nothing (no node, no HyperNode) has two parents,
- every HyperNode has a member, and no HyperNode names one of ours that does not exist,
- a parent's tier is above its children's.

One write for each HyperNode that differs, which is the fewest possible, except where two or more wait for each other's
members (racks that swap nodes): there, one of each such circle first gives up what it is to lose.

Notes
-----
Each round makes every write that is allowed now; children come before parents, so a first write of everything takes
one round. When nothing is allowed, the waits-for chain leads into a circle. Tiers and missing children alone cannot
close a circle (a HyperNode whose tier falls waits for children whose tiers fall, one whose tier rises for a parent
whose tier rises, and both chains end), so there is one in it that holds what another waits for, and that one can let
go: it keeps the members that stay, or, when none stays, a placeholder that matches no node.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from lws_volcano.api.names import TOPOLOGY
from lws_volcano.api.volcano import HyperNode
from lws_volcano.topology.hypernode_names import MAX_NAME
from lws_volcano.topology.hypernodes import DesiredHyperNode, Member
from lws_volcano.topology.membership import holds, same_content
from lws_volcano.topology.selectors import LabelIndex

__all__ = ["Action", "Write", "order_writes"]

PLACEHOLDER: Final = "moving.lws-volcano.invalid"
"""End of a node name that no node has; the HyperNode's own name goes before it."""


class Action(StrEnum):
    """What is done to one HyperNode."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write.

    Attributes
    ----------
    manifest
        The whole object to apply; None for a deletion.
    reason
        Why, for the log.
    """

    action: Action
    name: str
    manifest: Mapping[str, Any] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _State:
    """What counts of a HyperNode for the order; `target` is what is written to get here, None where it was found so."""

    tier: int
    members: frozenset[Member]
    target: DesiredHyperNode | None = None


def order_writes(
    current: Iterable[HyperNode], desired: Iterable[DesiredHyperNode], index: LabelIndex | None = None
) -> list[Write]:
    """Writes that lead from our HyperNodes as they are to those that should be, in a safe order.

    Parameters
    ----------
    current
        Those that are ours (`membership.is_ours`) and not being deleted; others are never touched.
    desired
        From `desired_hypernodes`.
    index
        Labels of the cluster's nodes, to know what members that are label selectors hold.
    """
    return _Ordering({hypernode.name: hypernode for hypernode in current}, desired, index).run()


class _Ordering:
    def __init__(
        self, current: Mapping[str, HyperNode], desired: Iterable[DesiredHyperNode], index: LabelIndex | None
    ) -> None:
        self.current = current
        self.now = {name: _State(hypernode.spec.tier, holds(hypernode, index)) for name, hypernode in current.items()}
        self.goal = {
            hypernode.name: _State(hypernode.tier, frozenset(hypernode.members), hypernode) for hypernode in desired
        }
        self.holders: dict[Member, set[str]] = {}
        for name, state in self.now.items():
            self._hold(name, state.members)
        self.pending = self._pending()
        self.writes: list[Write] = []

    def _pending(self) -> list[str]:
        """Names that differ: creations and updates closest tiers first, then deletions outermost first."""
        gone = sorted((name for name in self.now if name not in self.goal), key=lambda name: -self.now[name].tier)
        differ = [
            name
            for name, state in self.goal.items()
            if name not in self.current or not _same(self.current[name], state)
        ]
        return sorted(differ, key=lambda name: self.goal[name].tier) + gone

    def run(self) -> list[Write]:
        """All writes, in order."""
        while self.pending:
            left = [name for name in self.pending if not self._write(name)]
            if len(left) == len(self.pending):
                self._let_go(left)
            self.pending = left
        return self.writes

    def _write(self, name: str) -> bool:
        """Bring one HyperNode to what it should be, if that is allowed now."""
        if next(self._waits_for(name), None) is not None:
            return False
        self._set(name, self.goal.get(name), "" if name in self.goal else "its domain is gone")
        return True

    def _set(self, name: str, state: _State | None, reason: str) -> None:
        before = self.now.pop(name, None)
        if before is not None:
            for member in before.members:
                self.holders[member].discard(name)
        if state is None or state.target is None:
            self.writes.append(Write(action=Action.DELETE, name=name, reason=reason))
            return
        self.now[name] = state
        self._hold(name, state.members)
        action = Action.CREATE if before is None else Action.UPDATE
        self.writes.append(Write(action=action, name=name, manifest=state.target.manifest(), reason=reason))

    def _hold(self, name: str, members: Iterable[Member]) -> None:
        for member in members:
            self.holders.setdefault(member, set()).add(name)

    def _waits_for(self, name: str) -> Iterator[str]:
        """Names that have to be written before this one may be."""
        state = self.goal.get(name)
        parents = self.holders.get(("HyperNode", name), ())
        if state is None:
            yield from parents
            return
        yield from (parent for parent in parents if self.now[parent].tier <= state.tier)
        for member in state.members:
            yield from (holder for holder in self.holders.get(member, ()) if holder != name)
            kind, child = member
            if kind == "HyperNode" and (child not in self.now or self.now[child].tier >= state.tier):
                yield child

    def _let_go(self, blocked: list[str]) -> None:
        """Have one HyperNode of a circle give up what it is to lose.

        Where nobody in it has anything to lose, somebody has broken the tree by hand: the first is written then.
        """
        chain: list[str] = []
        name = next(iter(blocked))
        while name not in chain:
            chain.append(name)
            name = next(self._waits_for(name))
        circle = chain[chain.index(name) :]
        loser = next((name for name in circle if self._excess(name)), None)
        if loser is None:
            self._set(circle[0], self.goal.get(circle[0]), "mends a broken tree")
            blocked.remove(circle[0])
        else:
            self._set(loser, self._shrunk(loser), "gives up members that others wait for")

    def _excess(self, name: str) -> frozenset[Member]:
        """What a HyperNode holds and is to lose."""
        state, goal = self.now.get(name), self.goal.get(name)
        if state is None:
            return frozenset()
        return state.members - (goal.members if goal is not None else frozenset()) - {_placeholder(name)}

    def _shrunk(self, name: str) -> _State:
        state, found = self.now[name], self.current[name]
        kept = state.members - self._excess(name) or {_placeholder(name)}
        target = DesiredHyperNode(
            name=name,
            topology=found.metadata.labels.get(TOPOLOGY, ""),
            tier=state.tier,
            tier_name=found.spec.tier_name,
            members=tuple(sorted(kept)),
        )
        return _State(state.tier, frozenset(kept), target)


def _same(found: HyperNode, goal: _State) -> bool:
    return goal.target is not None and same_content(found, goal.target)


def _placeholder(name: str) -> Member:
    return "Node", f"{name}.{PLACEHOLDER}"[-MAX_NAME:].lstrip("-.")
