"""Arguments that several commands share; apart from what they need, so that `--help` stays instant."""

import argparse

__all__ = ["add_cluster_arguments", "add_settings_argument", "add_topology_argument"]


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """`--kubeconfig` and `--context`."""
    parser.add_argument(
        "--kubeconfig", metavar="FILE", help="default: the pod's service account, else $KUBECONFIG, else ~/.kube/config"
    )
    parser.add_argument("--context", metavar="NAME", help="context of the kubeconfig")


def add_settings_argument(parser: argparse.ArgumentParser) -> None:
    """`--config`, for commands that answer as the controller would."""
    parser.add_argument("--config", metavar="FILE", help="settings of the controller, the file that it runs with")


def add_topology_argument(parser: argparse.ArgumentParser) -> None:
    """`--topology`, for commands that look at a cluster whose controller has topology files mounted."""
    parser.add_argument(
        "--topology", metavar="FILE|DIR", help="topology files of the controller, beside the ClusterTopologies there"
    )
