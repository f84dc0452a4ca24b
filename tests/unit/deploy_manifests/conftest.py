"""Helm is not needed: the rendered copy is tested, and its digest proves that it is of the present chart.

Where helm is there, the chart itself is rendered as well.
"""

import os
import shutil

HELM = os.environ.get("HELM") or shutil.which("helm")

collect_ignore = [] if HELM else ["test_with_helm.py"]
