"""ControllerRevisions of a LeaderWorkerSet: what they hold and how they are named."""

import json
from copy import deepcopy
from typing import Final

from deploy.local.lws_stand_in.names import NAME, REVISION, Json, labels, owned_by

__all__ = ["content", "content_hash", "new_revision", "of_hash", "restored"]

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"


def content(lws: Json) -> Json:
    """The part of the spec that makes a revision, in the form of a patch that replaces it."""
    spec = lws["spec"]
    network = spec.get("networkConfig") or {"subdomainPolicy": "Shared"}
    return {
        "spec": {
            "leaderWorkerTemplate": {"$patch": "replace", **deepcopy(spec["leaderWorkerTemplate"])},
            "networkConfig": {"$patch": "replace", **network},
        }
    }


def content_hash(data: Json) -> str:
    """Hash of the content: FNV-1 of its compact JSON, in letters that make no words."""
    raw = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for plain, escaped in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        raw = raw.replace(plain, escaped)
    value = 2166136261
    for byte in raw.encode():
        value = (value * 16777619 & 0xFFFFFFFF) ^ byte
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(value))


def new_revision(lws: Json, existing: list[Json]) -> Json:
    """The next revision of the set, to be created."""
    data = content(lws)
    name, digest = lws["metadata"]["name"], content_hash(data)
    number = max((int(one["revision"]) for one in existing), default=0) + 1
    return {
        "metadata": {
            "name": f"{name[:220]}-{digest}-{number}",
            "namespace": lws["metadata"]["namespace"],
            "labels": {NAME: name, REVISION: digest},
            "ownerReferences": owned_by(lws),
        },
        # In order, as Kubernetes itself would write it: a garbage collector that orphans it must not seem to change it.
        "data": json.loads(json.dumps(data, sort_keys=True)),
        "revision": number,
    }


def of_hash(revisions: list[Json], digest: str) -> Json | None:
    """The newest revision with this hash."""
    having = [one for one in revisions if labels(one).get(REVISION) == digest]
    return max(having, key=lambda one: int(one["revision"]), default=None)


def restored(lws: Json, revision: Json) -> Json:
    """The set with the templates of an earlier revision."""
    spec = {
        name: {key: value for key, value in part.items() if key != "$patch"}
        for name, part in revision["data"]["spec"].items()
    }
    return {**lws, "spec": {**lws["spec"], **deepcopy(spec)}}
