"""What holds for every history: random walks over one LWS, checked after every step.

A walk adds, ends, drops, binds and gates pods, scales, rolls, opts in and out, edits and deletes PodGroups. The world
itself refuses forbidden changes (see `world`). Left out: several LWS (they share nothing), the scheduler.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.api import names
from lws_volcano.api.pods import Pod
from lws_volcano.mapping.plan import plan_lws
from tests.unit.mapping.builders import HASH, OPTED_IN, at, group_template, lws, pod, pod_group, revision
from tests.unit.mapping.world import World

NEW = "5c9d7bb8f4"
SIZES = {HASH: 3, NEW: 2}
INDICES = ("0", "1", "2", "x")

walks = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(INDICES), st.sampled_from(sorted(SIZES)), st.integers(0, 2)),
        st.tuples(st.sampled_from(["bind", "end", "drop", "gate", "forget"]), st.integers(0, 20)),
        st.tuples(st.sampled_from(["edit", "delete", "hold", "let go"]), st.integers(0, 5)),
        st.tuples(st.just("scale"), st.integers(0, 4)),
        st.tuples(st.just("gang"), st.booleans()),
        st.tuples(st.just("first"), st.booleans()),
    ),
    max_size=25,
)


def owner(replicas=2, *, gang=True, first=False):
    """The LWS in one of its forms."""
    return lws(
        replicas=replicas,
        groups=group_template(2),
        annotations=OPTED_IN if gang else {},
        startupPolicy="LeaderReady" if first else "LeaderCreated",
    )


class Walk:
    """A world that is pushed about."""

    def __init__(self):
        self.form = {"replicas": 2, "gang": True, "first": False}
        self.world = World(owner())
        self.world.put(revision(owner(), group_template(3)), revision(owner(), group_template(2), NEW, number=2))
        self.made = 0

    def step(self, kind, *arguments):
        """One push."""
        getattr(self, kind.replace(" ", "_"))(*arguments)

    def add(self, index, hash_, rank):
        """LWS makes a pod, where there is none of this name."""
        self.made += 1
        one = pod(index, min(rank, SIZES[hash_] - 1), hash_=hash_, uid=f"pod-{self.made}", created=self.made)
        self.world.pods.setdefault(one.name, one)

    def _pod(self, number):
        there = sorted(self.world.pods)
        return there[number % len(there)] if there else None

    def bind(self, number):
        """The scheduler binds a pod without gates."""
        one = self._pod(number)
        if one and not self.world.pods[one].spec.scheduling_gates:
            self.world.bind(one)

    def end(self, number):
        """A pod starts to end."""
        if one := self._pod(number):
            self.world.edit_pod(one, metadata={"deletionTimestamp": at(0)})

    def drop(self, number):
        """A pod is gone."""
        if one := self._pod(number):
            self.world.drop(one)

    def gate(self, number):
        """A pod was admitted with our gate."""
        one = self._pod(number)
        if one and not self.world.pods[one].bound:
            self.world.edit_pod(one, spec={"schedulingGates": [{"name": names.MINIMUM_GATE}]})

    def forget(self, number):
        """A pod slipped past the webhook."""
        if one := self._pod(number):
            raw = self.world.pods[one].manifest()
            raw["metadata"]["annotations"] = {}
            self.world.pods[one] = Pod.parse(raw)

    def _pod_group(self, number):
        there = sorted(self.world.pod_groups)
        return self.world.pod_groups[there[number % len(there)]] if there else None

    def edit(self, number):
        """Somebody changes a PodGroup."""
        if one := self._pod_group(number):
            one["spec"] = {**one["spec"], "minMember": 77, "queue": "other"}

    def delete(self, number):
        """Somebody deletes a PodGroup."""
        if one := self._pod_group(number):
            del self.world.pod_groups[one["metadata"]["name"]]

    def hold(self, number):
        """Somebody deletes a PodGroup that a finalizer holds."""
        if one := self._pod_group(number):
            one["metadata"] |= {"deletionTimestamp": at(0), "finalizers": ["example.com/x"]}

    def let_go(self, _):
        """The finalizers go."""
        held = [name for name, raw in self.world.pod_groups.items() if "deletionTimestamp" in raw["metadata"]]
        for name in held:
            del self.world.pod_groups[name]

    def scale(self, replicas):
        """Other replicas."""
        self._form(replicas=replicas)

    def gang(self, on):
        """Opt in or out."""
        self._form(gang=on)

    def first(self, on):
        """Another startup policy."""
        self._form(first=on)

    def _form(self, **change):
        self.form |= change
        self.world.lws = owner(self.form["replicas"], gang=self.form["gang"], first=self.form["first"])


def check(world):
    """What must hold once a pass has found nothing to do."""
    pods = world.pods.values()
    named = {one.metadata.annotations.get(names.GROUP_NAME) for one in pods}
    living = {one.metadata.annotations.get(names.GROUP_NAME) for one in pods if not one.terminating}
    opted_in = world.lws.metadata.annotations.get(names.GANG) == "true"
    for name, (members, tasks) in world.numbers().items():
        index = name.split("-")[1]
        if name in named and not opted_in and name not in living:
            continue  # opted out, and the last pods are ending: nobody is bound by these numbers any more
        if name in named:
            assert members == sum(tasks.values()), "the two minimums agree"
            assert 0 not in tasks.values()
        else:
            assert opted_in
            assert int(index) < world.lws.spec.replicas, "an empty PodGroup only where its group comes back"
    for one in pods:
        name = one.metadata.annotations.get(names.GROUP_NAME)
        held = "deletionTimestamp" in world.pod_groups.get(name, {"metadata": {}})["metadata"]
        if opted_in and name and not one.terminating and not held:
            assert name in world.pod_groups, "a living pod's PodGroup is there"
        if one.spec.scheduling_gates and not one.terminating and not held and name in world.numbers():
            worker = one.metadata.labels[names.WORKER_INDEX] != "0"
            assert worker, "no leader stays gated"
            assert world.numbers()[name][1] == {"leader": 1}, "no gate outlives a final minimum"


@given(walks)
@settings(max_examples=60, deadline=None)
def test_every_walk_settles_and_keeps_the_invariants(walk):
    """Each step settles within a few passes, forbids nothing, and ends in a right world."""
    there = Walk()
    for step in walk:
        there.step(*step)
        there.world.settle()
        check(there.world)


@given(walks)
@settings(max_examples=40, deadline=None)
def test_ten_passes_without_a_change_write_nothing(walk):
    """Whatever came before."""
    there = Walk()
    for step in walk:
        there.step(*step)
    there.world.settle()
    before = len(there.world.writes)
    for _ in range(10):
        there.world.once()
    assert len(there.world.writes) == before


@given(walks, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_objects_does_not_matter(walk, dice):
    """The same snapshot in another order gives the same plan."""
    there = Walk()
    for step in walk:
        there.step(*step)
    taken = there.world.snapshot()
    mixed = {
        field: tuple(dice.sample(getattr(taken, field), len(getattr(taken, field))))
        for field in ("pods", "revisions", "pod_groups")
    }
    other = type(taken)(lws=taken.lws, now=taken.now, settings=taken.settings, **mixed)
    assert plan_lws(other) == plan_lws(taken)


@given(walks)
@settings(max_examples=40, deadline=None)
def test_what_is_not_ours_is_never_touched(walk):
    """PodGroups of others under our names, under our label, or hung on the LWS, stay as they are."""
    there = Walk()
    theirs = [
        pod_group(f"demo-0-{HASH}"),
        pod_group(f"demo-1-{HASH}", owner=lws(uid="another"), metadata={"uid": "another's"}),
        pod_group("by-hand", owner=owner(), metadata={"labels": {names.LWS_NAME: "demo"}}),
    ]
    kept = [one.manifest() for one in theirs]
    steps = [step for step in walk if step[0] not in {"edit", "delete", "hold", "let go"}]
    there.world.put(*theirs)
    for step in steps:
        there.step(*step)
        there.world.settle()
    assert [there.world.pod_groups[one.name] for one in theirs] == kept


@pytest.mark.parametrize("seed", range(5))
def test_interrupted_anywhere_it_reaches_the_same_state(seed):
    """A pass that dies after any of its changes is made good by the next ones."""
    dice = random.Random(seed)
    whole, torn = Walk(), Walk()
    for number in range(12):
        step = ("add", dice.choice(INDICES), dice.choice(sorted(SIZES)), dice.randrange(3))
        for walk in (whole, torn):
            walk.step(*step)
            if number % 3 == 2:
                walk.step("drop", number)
        whole.world.settle()
        plan = torn.world.plan()
        for change in plan.changes[: dice.randrange(len(plan.changes) + 1)]:
            torn.world._make(change)
    torn.world.settle()
    assert torn.world.numbers() == whole.world.numbers()
