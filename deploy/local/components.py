"""Command lines of the control plane's programs, tuned for quick tests on one machine."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from deploy.local.certificates import Identity

__all__ = ["Options", "Ports", "apiserver", "controller_manager", "etcd", "kwok"]

STAGES: Final = Path(__file__).with_name("stages.yaml")
AUDIT_POLICY: Final = Path(__file__).with_name("audit-policy.yaml")
CONTROLLERS: Final = (
    "statefulset-controller,replicaset-controller,deployment-controller,job-controller,daemonset-controller,"
    "garbage-collector-controller,namespace-controller,pod-garbage-collector-controller,"
    "node-lifecycle-controller,taint-eviction-controller,serviceaccount-controller"
)


@dataclass(frozen=True)
class Options:
    """What a caller may tune.

    Attributes
    ----------
    statefulset_syncs, kube_api_qps : int
        How fast the controller manager turns StatefulSets into pods; its own defaults (5 and 20) are far slower.
    apiserver_flags, controller_manager_flags : tuple of str
        Added at the end, so they win over ours.
    """

    statefulset_syncs: int = 10
    kube_api_qps: int = 1000
    apiserver_flags: tuple[str, ...] = ()
    controller_manager_flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ports:
    """Loopback ports of one control plane."""

    apiserver: int
    etcd: int
    etcd_peer: int

    @property
    def server(self) -> str:
        """URL of the API server."""
        return f"https://127.0.0.1:{self.apiserver}"


@dataclass(frozen=True)
class Credentials:
    """Files that the API server needs."""

    authority: Path
    server: Identity
    service_account_key: Path = field(default=Path())


def etcd(program: Path, data: Path, ports: Ports) -> list[str | Path]:
    """An etcd that does not wait for the disk: its data is thrown away."""
    client, peer = f"http://127.0.0.1:{ports.etcd}", f"http://127.0.0.1:{ports.etcd_peer}"
    return [
        program,
        "--name=local",
        f"--data-dir={data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=local={peer}",
        "--unsafe-no-fsync",
        "--snapshot-count=100000",
        "--quota-backend-bytes=4294967296",
        "--heartbeat-interval=500",
        "--election-timeout=2500",
        "--log-level=warn",
    ]


def apiserver(program: Path, ports: Ports, credentials: Credentials, audit: Path, options: Options) -> list[str | Path]:
    """An API server with RBAC; without two admission plugins, so pods need no account and new nodes carry no taint."""
    key = credentials.service_account_key
    return [
        program,
        f"--etcd-servers=http://127.0.0.1:{ports.etcd}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--secure-port={ports.apiserver}",
        f"--tls-cert-file={credentials.server.certificate}",
        f"--tls-private-key-file={credentials.server.key}",
        f"--client-ca-file={credentials.authority}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        "--allow-privileged=true",
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
        "--min-request-timeout=600",
        f"--audit-policy-file={AUDIT_POLICY}",
        f"--audit-log-path={audit}",
        "--profiling=false",
        "--shutdown-delay-duration=0s",
        *options.apiserver_flags,
    ]


def controller_manager(program: Path, kubeconfig: Path, key: Path, options: Options) -> list[str | Path]:
    """The controllers that LeaderWorkerSets, their pods and our tests need."""
    return [
        program,
        f"--kubeconfig={kubeconfig}",
        f"--service-account-private-key-file={key}",
        f"--controllers={CONTROLLERS}",
        "--leader-elect=false",
        "--secure-port=0",
        "--use-service-account-credentials=false",
        f"--kube-api-qps={options.kube_api_qps}",
        f"--kube-api-burst={2 * options.kube_api_qps}",
        f"--concurrent-statefulset-syncs={options.statefulset_syncs}",
        "--concurrent-gc-syncs=20",
        "--concurrent-namespace-syncs=10",
        "--node-monitor-period=1s",
        "--node-monitor-grace-period=1h",  # heartbeats come every 5 minutes; a busy machine is no reason to evict
        "--node-eviction-rate=100",
        "--secondary-node-eviction-rate=100",
        "--unhealthy-zone-threshold=1",
        *options.controller_manager_flags,
    ]


def kwok(program: Path, kubeconfig: Path) -> list[str | Path]:
    """Simulated kubelets for every node, without leases.

    With leases a node of a name that was just deleted stands idle until the next renewal (10 s of 40), because the
    garbage collector takes the old lease away under it; a pod bound meanwhile can be passed over for good.
    """
    return [
        program,
        f"--kubeconfig={kubeconfig}",
        f"--config={STAGES}",
        "--manage-all-nodes=true",
        "--node-ip=127.0.0.1",
        "--node-lease-duration-seconds=0",
    ]
