"""An admission webhook server for the stand-ins: HTTPS on loopback, registered with the API server by URL."""

import base64
import json
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from deploy.local.api import Api, Object
from deploy.local.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS

__all__ = ["AdmissionServer", "Denied", "Rule"]

Decide = Callable[[Object], Object | None]
"""Given the request of a review: the changed object, or None to leave it as it is."""


class Denied(Exception):  # noqa: N818 - it is an answer, not an error
    """The request is refused; the message goes to the user."""


class Rule:
    """One webhook: what it is called for and what it answers."""

    def __init__(self, name: str, resource: str, operations: tuple[str, ...], decide: Decide) -> None:
        group, version, plural = resource.rsplit("/", 2)
        self.name = name
        self.path = f"/{name}"
        self.decide = decide
        self.rules = [
            {"apiGroups": [group], "apiVersions": [version], "resources": [plural], "operations": list(operations)}
        ]


class AdmissionServer:
    """Serves the rules and registers them.

    Parameters
    ----------
    certificate, key, authority : Path
        Certificate for 127.0.0.1, its key, and the authority that the API server should trust.
    """

    def __init__(self, certificate: Path, key: Path, authority: Path) -> None:
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate, key)
        self._bundle = base64.b64encode(authority.read_bytes()).decode()
        self._app = web.Application(client_max_size=8 * 2**20)
        self._port = 0

    async def start(self, rules: list[Rule]) -> None:
        """Listen on a free port."""
        for rule in rules:
            self._app.router.add_post(rule.path, _handler(rule))
        runner = web.AppRunner(self._app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._context)
        await site.start()
        self._port = runner.addresses[0][1]

    async def register(self, api: Api, name: str, mutating: list[Rule], validating: list[Rule]) -> None:
        """Tell the API server; the names are those of the real program, since webhooks run in order of name."""
        for resource, rules, suffix in (
            (MUTATING_WEBHOOKS, mutating, "mutating"),
            (VALIDATING_WEBHOOKS, validating, "validating"),
        ):
            if rules:
                body = {
                    "metadata": {"name": name.format(suffix)},
                    "webhooks": [self._webhook(rule) for rule in rules],
                }
                await api.apply(resource, body, "stand-in")

    def _webhook(self, rule: Rule) -> dict[str, Any]:
        return {
            "name": rule.name,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 10,
            "rules": rule.rules,
            "clientConfig": {"url": f"https://127.0.0.1:{self._port}{rule.path}", "caBundle": self._bundle},
        }


def _handler(rule: Rule) -> Callable[[web.Request], Any]:
    async def handle(request: web.Request) -> web.Response:
        review = await request.json()
        asked = review["request"]
        answer: dict[str, Any] = {"uid": asked["uid"], "allowed": True}
        try:
            changed = rule.decide(asked)
        except Denied as denied:
            answer |= {"allowed": False, "status": {"message": str(denied), "reason": "Forbidden", "code": 403}}
        else:
            if changed is not None:
                patch = json.dumps(differences(asked["object"], changed)).encode()
                answer |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}
        return web.json_response({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer})

    return handle


def differences(old: Any, new: Any, path: str = "") -> list[dict[str, Any]]:
    """A JSON patch from old to new: members of objects one by one, lists as a whole."""
    if old == new:
        return []
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return [{"op": "replace", "path": path, "value": new}]
    patch: list[dict[str, Any]] = []
    for name in sorted(old.keys() | new.keys()):
        at = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in new:
            patch.append({"op": "remove", "path": at})
        elif name not in old:
            patch.append({"op": "add", "path": at, "value": new[name]})
        else:
            patch += differences(old[name], new[name], at)
    return patch
