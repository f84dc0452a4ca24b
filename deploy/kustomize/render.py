"""Render the Helm chart into `base/lws-volcano.yaml`: `python -m deploy.kustomize.render`.

To be run after every change of the chart. The first line of the result carries a digest of the chart, so that a test
can tell without Helm that it is not stale.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from deploy.helm.generate import CHART
from deploy.helm.generate import main as generate

__all__ = ["BASE", "NAMESPACE", "digest", "main", "render"]

BASE: Final = Path(__file__).parent / "base" / "lws-volcano.yaml"
NAMESPACE: Final = "lws-volcano-system"

_HELM_LABELS: Final = ("helm.sh/chart", "app.kubernetes.io/managed-by")
_HEADER: Final = "# Rendered from deploy/helm/lws-volcano by deploy/kustomize/render.py; chart sha256:"


def digest(chart: Path = CHART) -> str:
    """Digest of everything that decides the rendered text."""
    total = hashlib.sha256()
    for path in sorted(path for path in chart.rglob("*") if path.is_file()):
        total.update(f"{path.relative_to(chart).as_posix()}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def render(helm: str, *flags: str) -> list[dict[str, Any]]:
    """The chart's manifests in the order of installation, without Helm's own labels.

    Raises
    ------
    subprocess.CalledProcessError
        Helm refuses the chart or the values; its message is on stderr.
    """
    command = [helm, "template", "lws-volcano", str(CHART), "--namespace", NAMESPACE, "--kube-version", "1.30", *flags]
    result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return [_plain(document) for document in yaml.safe_load_all(result.stdout) if document]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in _HELM_LABELS}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def main() -> int:
    """Write the file; 1 without Helm."""
    helm = os.environ.get("HELM") or shutil.which("helm")
    if helm is None:
        print("helm is needed to render the chart; install it, or set HELM to its path", file=sys.stderr)
        return 1
    generate()
    BASE.write_text("".join(_documents(render(helm))))
    return 0


def _documents(manifests: list[dict[str, Any]]) -> Iterator[str]:
    yield f"{_HEADER}{digest()}\n"
    for manifest in manifests:
        yield "---\n" + yaml.safe_dump(manifest, sort_keys=False, width=118)


if __name__ == "__main__":
    sys.exit(main())
