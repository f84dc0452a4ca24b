"""What is installed: the rendered chart, read once."""

from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy" / "helm" / "lws-volcano"
KUSTOMIZE = ROOT / "deploy" / "kustomize"
EXAMPLES = ROOT / "deploy" / "examples"


@cache
def rendered():
    """Every manifest of the rendered chart."""
    text = (KUSTOMIZE / "base" / "lws-volcano.yaml").read_text()
    return tuple(document for document in yaml.safe_load_all(text) if document)


def of_kind(kind):
    """The manifests of one kind."""
    return [document for document in rendered() if document["kind"] == kind]


def the(kind):
    """The only manifest of this kind."""
    (only,) = of_kind(kind)
    return only


def container():
    """The controller's container."""
    (only,) = the("Deployment")["spec"]["template"]["spec"]["containers"]
    return only
