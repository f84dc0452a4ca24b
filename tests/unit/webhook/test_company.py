"""Placement groups at admission: room for who is still to come, near who is there.

Left out: the choice of a domain among several (tests/unit/placement), two real sets (test_placement_groups).
"""

import copy

from lws_volcano.api.workloads import LeaderWorkerSet
from tests.unit.webhook.builders import leader
from tests.unit.webhook.test_planned_hints import REQUIRED, Replica, gpu_set, held_to, member, plan_of

LWS = "leaderworkerset.sigs.k8s.io/"
THREE_RACKS = {
    "s1": {"r1": {"n1": 8, "n2": 8}, "r2": {f"n{node}": 8 for node in (3, 4, 5, 6)}},
    "s2": {"r3": {f"n{node}": 8 for node in (7, 8, 9)}},
}
"""r1 is the fullest that takes two pods; only r2 takes twice two."""


def one_of(name, *, size=2, replicas=1, group="chat", **spec):
    """A set of the placement group."""
    wanted = {"lws-volcano.io/placement-group": group} if group else {}
    raw = gpu_set(size=size, replicas=replicas, annotations=wanted, **spec).manifest()
    raw["metadata"].update(name=name, uid=name)
    return LeaderWorkerSet.parse(raw)


def leader_of(name, index="0"):
    """A leader pod of that set, which asks for a whole node."""
    raw = member(lambda *, seen_by_lws: leader(seen_by_lws=seen_by_lws, group=index))
    raw["metadata"]["name"] = f"{name}-{index}"
    raw["metadata"]["labels"] |= {LWS + "name": name, LWS + "group-key": f"{name}-{index}"}
    return copy.deepcopy(raw)


class Namespace(Replica):
    """A replica that knows some sets, on three racks."""

    def __init__(self, *sets, **settings):
        super().__init__(THREE_RACKS, **settings)
        self.sets = {one.name: one for one in sets}
        for number, one in enumerate(sets):
            self.cluster.kinds.lws.store.upsert(one, number + 1)

    def leader(self, name, index="0"):
        """A leader as it leaves admission; the watch has not delivered it when the next one comes."""
        return self.admit(leader_of(name, index), self.sets[name])


def racks_of(pod):
    """Racks of the plan."""
    return {entry["path"][-1] for entry in plan_of(pod)["pods"]}


def test_the_first_goes_where_those_to_come_fit_as_well():
    """And is held there, because the others are planned near it before anybody is bound."""
    replica = Namespace(one_of("prefill"), one_of("decode"))
    first, second = replica.leader("prefill"), replica.leader("decode")
    assert racks_of(first) == racks_of(second) == {"r2"}
    assert held_to(first) == held_to(second) == {"n3", "n4", "n5", "n6"}


def test_other_names_and_lone_sets_are_not_waited_for():
    """The fullest rack, held nowhere."""
    for other in (one_of("decode", group="other"), one_of("decode", group="")):
        pod = Namespace(one_of("prefill"), other).leader("prefill")
        assert racks_of(pod) == {"r1"}
        assert REQUIRED not in pod["spec"]["affinity"]["nodeAffinity"]


def test_groups_of_one_set_keep_together_too():
    """Two groups of two in the only rack with room for both."""
    replica = Namespace(one_of("prefill", replicas=2))
    assert racks_of(replica.leader("prefill")) == {"r2"}
    assert racks_of(replica.leader("prefill", "1")) == {"r2"}


def test_who_runs_is_seen_on_any_replica():
    """Bound pods of the others: the closest domain around them with room."""
    other = Namespace(one_of("prefill"), one_of("decode"))
    other.knows(leader_of("prefill"), node="n1")
    other.knows(leader_of("decode"), node="n2")
    assert racks_of(Namespace(one_of("prefill")).leader("prefill")) == {"r1"}
    other.cluster.kinds.lws.store.upsert(one_of("third"), 9)
    other.sets["third"] = one_of("third")
    pod = other.leader("third")
    assert racks_of(pod) == {"r2"}
    assert held_to(pod) == {"n3", "n4", "n5", "n6"}


def test_who_does_not_fit_beside_the_others_goes_next_door():
    """No rack takes all: one spine does, and each group is whole in a rack of it."""
    replica = Namespace(one_of("prefill"), one_of("decode", size=4))
    first, second = replica.leader("prefill"), replica.leader("decode")
    assert (racks_of(first), racks_of(second)) == ({"r1"}, {"r2"})
    assert held_to(first) == {"n1", "n2"}


def test_a_leader_that_comes_first_is_held_to_room_for_its_group():
    """The planned rack, as its workers will be."""
    replica = Namespace(one_of("prefill"), one_of("decode", size=4, startupPolicy="LeaderReady"))
    replica.leader("prefill")
    assert held_to(replica.leader("decode")) == {"n3", "n4", "n5", "n6"}
