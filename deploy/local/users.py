"""Users with few rights, for tests of what happens without one."""

from collections.abc import Sequence
from typing import Any

from deploy.local.api import Api
from deploy.local.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES

__all__ = ["grant"]


async def grant(api: Api, user: str, rules: Sequence[dict[str, Any]]) -> None:
    """Give a user exactly these rights; called again, they replace the earlier ones."""
    await api.apply(CLUSTER_ROLES, {"metadata": {"name": user}, "rules": list(rules)}, "local")
    binding = {
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    await api.apply(CLUSTER_ROLE_BINDINGS, binding, "local")
