"""Labels that clouds and operators put on nodes, closest first.

Sources: EKS user guide (ml-workload-topology), GKE topology-aware scheduling, OKE RDMA network locality, CoreWeave
InfiniBand and RoCE labels, NVIDIA GPU operator, topograph node-labels reference (its older names too).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["ACCELERATORS", "CLIQUE", "CLUSTER", "HOSTS", "SCHEMES", "Scheme"]


@dataclass(frozen=True, slots=True)
class Scheme:
    """A family of labels.

    Attributes
    ----------
    name
        Who writes them.
    keys
        Closest first.
    deepest_is_closest
        Nodes have as many levels as their machine type gives them, and the deepest one is always the closest: a node
        with three of four levels shares its switch with others just as one with all four does.
    """

    name: str
    keys: Sequence[str]
    deepest_is_closest: bool = False


CLIQUE: Final = "nvidia.com/gpu.clique"
CLUSTER: Final = "nvidia.com/gpu.cluster"
"""Not a label: the first half of the clique, `<cluster>.<clique>`, which cliques of one NVLink fabric share."""

SCHEMES: Final = (
    Scheme("topograph", tuple(f"fabric.topograph.run/tier-{tier}" for tier in range(8))),
    Scheme("topograph (tier names)", tuple(f"network.topology.nvidia.com/tier-{tier}" for tier in range(8))),
    Scheme(
        "topograph (leaf, spine, core)", tuple(f"network.topology.nvidia.com/{n}" for n in ("leaf", "spine", "core"))
    ),
    Scheme(
        "topograph (block, spine, datacenter)",
        tuple(f"network.topology.nvidia.com/{name}" for name in ("block", "spine", "datacenter")),
    ),
    Scheme(
        "AWS",
        tuple(f"topology.k8s.aws/network-node-layer-{layer}" for layer in range(8, 0, -1)),
        deepest_is_closest=True,
    ),
    Scheme("GKE", tuple(f"cloud.google.com/gce-topology-{name}" for name in ("host", "subblock", "block"))),
    Scheme("GKE (older)", tuple(f"topology.gke.io/{name}" for name in ("host", "rack", "cluster"))),
    Scheme(
        "OCI",
        tuple(f"oci.oraclecloud.com/rdma.{name}_id" for name in ("host", "local_block", "network_block", "hpc_island")),
    ),
    Scheme("CoreWeave", tuple(f"backend.coreweave.cloud/{name}" for name in ("leafgroup", "superpod", "fabric"))),
    Scheme(
        "CoreWeave (InfiniBand)", tuple(f"ib.coreweave.cloud/{name}" for name in ("leafgroup", "superpod", "fabric"))
    ),
)
"""Fabric labels; the family that most nodes have is read."""

ACCELERATORS: Final = (
    CLIQUE,
    CLUSTER,
    "accelerator.topograph.run/sub-domain",
    "accelerator.topograph.run/domain",
    "xclr.topology.nvidia.com/sub-domain",
    "xclr.topology.nvidia.com/domain",
    "network.topology.nvidia.com/accelerator",
    "accelerated.topology.nvidia.com/level-0",
    "ds.coreweave.com/nvlink.domain",
)
"""Accelerator domains (NVLink); where they fit into the fabric depends on the machine, so that is found out."""

HOSTS: Final = frozenset(
    {
        "kubernetes.io/hostname",
        "cloud.google.com/gce-topology-host",
        "topology.gke.io/host",
        "oci.oraclecloud.com/rdma.host_id",
    }
)
"""Levels that are the node itself, unless several nodes share a machine."""
