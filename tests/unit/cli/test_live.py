"""One look at a cluster: which pods are listed, what cannot be read, and a cluster that does not answer.

A scripted client takes the place of the API server. Left out: what `status` and `doctor` make of it.
"""

import asyncio
from argparse import Namespace

import pytest
import yaml

from lws_volcano.api.errors import ClusterError
from lws_volcano.cli import status
from lws_volcano.cli.live import in_cluster, look, require
from lws_volcano.cli.main import main
from lws_volcano.kube.errors import Forbidden, Gone, NotFound

TEMPLATE = {"spec": {"schedulerName": "volcano"}}
SET = {
    "metadata": {"name": "demo", "namespace": "a", "uid": "u"},
    "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE}},
}


class Lists:
    """A client of an API server that has these objects, by plural; an error in place of a list is raised."""

    def __init__(self, **lists):
        self._lists = lists

    async def get(self, *_, **__):
        """Nothing is configured."""
        raise NotFound(404)

    async def list_page(self, resource, query, **_):
        """All on one page, selected by the presence of a label."""
        found = self._lists.get(resource.plural, [])
        if isinstance(found, Exception):
            raise found
        label = query.get("labelSelector")
        return {"items": [one for one in found if not label or label in one["metadata"].get("labels", {})]}


def pod(name, **labels):
    """A pod of a namespace."""
    return {"metadata": {"name": name, "namespace": "a", "uid": name, "labels": labels}, "spec": {"nodeName": "n"}}


@pytest.mark.parametrize(("every_pod", "seen"), [(False, {"a/ours"}), (True, {"a/ours", "a/other"})])
def test_a_plan_sees_the_pods_of_everybody(every_pod, seen):
    """What others run takes room; a status is about LeaderWorkerSets only."""
    client = Lists(pods=[pod("ours", **{"leaderworkerset.sigs.k8s.io/name": "demo"}), pod("other")])
    found = asyncio.run(look(client, every_pod=every_pod))
    assert set(found.kinds.pods.store.names()) == seen


def test_a_list_that_expires_between_its_pages_is_read_again_whole():
    """Each pod is there once, those of pages that are void not at all."""

    class Slow(Lists):
        async def list_page(self, resource, query, **more):
            """The first page of many pods, never a second one."""
            if "continue" in query:
                raise Gone(410, "Expired")
            page = await super().list_page(resource, query, **more)
            return {**page, "metadata": {"continue": "later"}} if "limit" in query and page["items"] else page

    found = asyncio.run(look(Slow(pods=[pod("one"), pod("two")]), every_pod=True))
    assert sorted(found.kinds.pods.store.names()) == ["a/one", "a/two"]


def test_what_may_not_be_read_is_an_answer_only_where_it_is_needed():
    """No permission for pods is not the same as no pods."""
    found = asyncio.run(look(Lists(pods=Forbidden(403, "Forbidden", "you may not"))))
    require(found.kinds.lws)
    with pytest.raises(ClusterError, match="pods can't be read: 403 Forbidden: you may not"):
        require(found.kinds.lws, found.kinds.pods)


def test_status_without_leader_worker_sets_says_so(monkeypatch, capsys):
    """Not installed is not `no groups`."""
    client = Lists(leaderworkersets=NotFound(404, "NotFound", "no such resource"))
    monkeypatch.setattr(status, "in_cluster", lambda _args, _ask: asyncio.run(look(client)))
    assert main(["status"]) == 3
    out, err = capsys.readouterr()
    said = "error: leaderworkersets.leaderworkerset.x-k8s.io can't be read: 404 NotFound: no such resource\n"
    assert (out, err) == ("", said)


def test_status_answers_by_the_settings_of_the_controller(monkeypatch, capsys, tmp_path):
    """Opted in by default in the controller's file, opted in here."""
    monkeypatch.setattr(status, "in_cluster", lambda _args, _ask: asyncio.run(look(Lists(leaderworkersets=[SET]))))
    config = tmp_path / "config.yaml"
    config.write_text("gang_by_default: true\n")
    assert main(["status", "--config", str(config), "-o", "json"]) == 0
    asked = capsys.readouterr().out
    assert main(["status", "-o", "json"]) == 0
    assert '"lws": "demo"' in asked
    assert '"lws": "demo"' not in capsys.readouterr().out


def tiers_of(monkeypatch, lists, *args):
    """Tier names of the topology with which `status` answers."""
    seen = []

    def connected(_args, ask):
        seen.append(asyncio.run(ask(Lists(**lists))))
        return seen[0]

    monkeypatch.setattr(status, "in_cluster", connected)
    assert main(["status", *args]) == 0
    topology = seen[0].topology
    return () if topology is None else tuple(tier.name for tier in topology.tiers)


def node(name, **labels):
    """A node."""
    return {"metadata": {"name": name, "uid": name, "labels": labels}}


def topology_file(folder, nodes, *, tier="rack"):
    """A ClusterTopology of one domain."""
    domains = [{"name": "r1", "tier": tier, "nodes": nodes}]
    spec = {"tiers": [{"name": tier}], "domains": domains}
    head = {"apiVersion": "lws-volcano.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": "dc"}}
    (folder / "dc.yaml").write_text(yaml.safe_dump({**head, "spec": spec}))


def test_status_knows_mounted_topology_files(monkeypatch, capsys, tmp_path):
    """A directory, as the controller has it; one that is refused is said, and the answer goes without."""
    lists = {"leaderworkersets": [SET], "nodes": [node("n1")]}
    topology_file(tmp_path, ["n1"])
    assert tiers_of(monkeypatch, lists) == ()
    assert tiers_of(monkeypatch, lists, "--topology", str(tmp_path)) == ("rack",)
    assert capsys.readouterr().err == ""
    topology_file(tmp_path, ["n[1-"])
    assert tiers_of(monkeypatch, lists, "--topology", str(tmp_path / "dc.yaml")) == ()
    assert "warning: ClusterTopology dc is refused: " in capsys.readouterr().err
    assert tiers_of(monkeypatch, lists, "--topology", str(tmp_path / "gone.yaml")) == ()
    assert "it is not there; mount it again" in capsys.readouterr().err


def test_status_reads_the_hyper_nodes_of_others_where_the_controller_does(monkeypatch, tmp_path):
    """With `hyper_nodes: read` and no ClusterTopology; ours do not count."""
    member = {"type": "Node", "selector": {"exactMatch": {"name": "n1"}}}
    spec = {"tier": 1, "tierName": "rack", "members": [member]}
    ours = {"metadata": {"name": "o", "uid": "o", "labels": {"volcano.sh/network-topology-source": "lws-volcano"}}}
    lists = {
        "leaderworkersets": [SET],
        "nodes": [node("n1")],
        "hypernodes": [{"metadata": {"name": "r1", "uid": "r1"}, "spec": spec}, {**ours, "spec": spec}],
    }
    config = tmp_path / "config.yaml"
    config.write_text("hyper_nodes: read\n")
    assert tiers_of(monkeypatch, lists) == ()
    assert tiers_of(monkeypatch, lists, "--config", str(config)) == ("rack",)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Forbidden(403, "Forbidden", 'RBAC: clusterrole.rbac.authorization.k8s.io "gpu" not found'), ["nodes"]),
        (NotFound(404, "NotFound", "the server could not find the requested resource"), []),
    ],
)
def test_forbidden_is_told_from_absent_by_the_answer(error, told):
    """Whatever words the API server uses."""
    refused = []
    found = asyncio.run(look(Lists(nodes=error), refused=lambda kind, _: refused.append(kind.resource.plural)))
    assert refused == told
    assert found.kinds.nodes.store.missing


def test_a_cluster_that_does_not_answer_is_named(tmp_path):
    """The address, what the machine said, and what to check."""
    file = tmp_path / "config"
    file.write_text(
        yaml.safe_dump(
            {
                "kind": "Config",
                "current-context": "c",
                "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "users": [{"name": "u", "user": {}}],
            }
        )
    )
    said = r"no answer from http://127\.0\.0\.1:1: GET .*: Connection refused \(127\.0\.0\.1:1\); check --kubeconfig"
    with pytest.raises(ClusterError, match=said):
        in_cluster(Namespace(kubeconfig=str(file), context=None), look)
