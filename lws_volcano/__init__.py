"""Multi-node inference groups on Volcano.

Packages, lowest layer first (an upper one may import a lower one, never the reverse; `make lint` checks it):

api         the Kubernetes vocabulary: names, quantities, slim frozen views
topology    the network as a tree of domains over nodes
placement   what fits where: demand, capacity, planner, hints
mapping     LeaderWorkerSet group -> desired PodGroup, one policy a file
kube        the only package that talks to an API server
observe     logs, metrics, health
state       what we know of the cluster: stores, indexes, snapshots
controller  the watch loop: queue, workers, reconcilers
webhook     the admission server
cli         one file a command
"""

__version__ = "0.1.0"
