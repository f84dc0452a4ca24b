"""What Volcano's webhook refuses about PodGroups (on CREATE; on UPDATE only the schema counts)."""

from copy import deepcopy

from deploy.local.admission import Denied
from deploy.local.api import Object
from deploy.local.mirror import Mirror

__all__ = ["PodGroupAdmission"]

QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"


class PodGroupAdmission:
    """Looks queues and namespaces up in mirrors."""

    def __init__(self, queues: Mirror, namespaces: Mirror) -> None:
        self._queues = queues
        self._namespaces = namespaces

    def mutate(self, request: Object) -> Object | None:
        """A PodGroup of the default queue goes to the queue that its namespace names."""
        group = request["object"]
        if (group.get("spec") or {}).get("queue", "default") != "default":
            return None
        namespace = self._namespaces.get(request["namespace"]) or {"metadata": {}}
        queue = (namespace["metadata"].get("annotations") or {}).get(QUEUE_ANNOTATION)
        if not queue:
            return None
        changed: Object = deepcopy(group)
        changed.setdefault("spec", {})["queue"] = queue
        return changed

    def validate(self, request: Object) -> None:
        """Refuse a queue that is absent or closed, and a tier by number and by name at once.

        Raises
        ------
        Denied
            With the reason.
        """
        spec = request["object"].get("spec") or {}
        topologies = [
            spec.get("networkTopology"),
            *(p.get("networkTopology") for p in spec.get("subGroupPolicy") or ()),
        ]
        for one in topologies:
            if one and one.get("highestTierAllowed") is not None and one.get("highestTierName"):
                raise Denied(
                    "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"
                )
        name = spec.get("queue", "default")
        queue = self._queues.get(name)
        if queue is None:
            raise Denied(f'unable to find queue: queues.scheduling.volcano.sh "{name}" not found')
        state = (queue.get("status") or {}).get("state", "Open")
        if state != "Open":
            raise Denied(f"can only submit PodGroup to queue with state `Open`, queue `{name}` status is `{state}`")
