"""Plain manifests for kustomize and kubectl: `base` is the chart rendered with its defaults (`render`)."""
