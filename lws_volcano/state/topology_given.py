"""ClusterTopologies as they are given: objects of the cluster, mounted files, HyperNodes that others wrote."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from lws_volcano.api.cluster import Node
from lws_volcano.api.errors import InputError, TopologyError
from lws_volcano.api.volcano import HyperNode
from lws_volcano.state.topologies import TopologyRecord
from lws_volcano.topology.file import Source, parse_document, parse_topologies
from lws_volcano.topology.findings import Finding, InvalidTopologyError, Origin, Severity
from lws_volcano.topology.importers.registry import import_topology
from lws_volcano.topology.importers.source import Source as Text
from lws_volcano.topology.importers.source import decode

__all__ = ["FOREIGN", "Given", "TopologyFiles", "from_hyper_nodes", "from_record", "given_topologies"]

FOREIGN: Final = "hypernodes"
"""Name of the topology that is read from HyperNodes of others."""

_SUFFIXES: Final = (".yaml", ".yml", ".json", ".conf", ".gz")


class Given(NamedTuple):
    """One ClusterTopology; `source` is None when it was refused, then `findings` say why.

    `generation` is that of the object, 0 for anything else.
    """

    name: str
    source: Source | None
    findings: tuple[Finding, ...] = ()
    generation: int = 0
    origin: str = ""


def from_record(record: TopologyRecord) -> Given:
    """An object of the cluster."""
    try:
        source = parse_document(record.raw, Origin(f"ClusterTopology {record.key}"))
    except InvalidTopologyError as error:
        return Given(record.key, None, error.findings, record.generation)
    return Given(record.key, source, source.findings, record.generation)


def from_hyper_nodes(found: Iterable[HyperNode], labels: Mapping[str, Mapping[str, str]]) -> Given:
    """HyperNodes that somebody else keeps."""
    items = [{**one.manifest(), "kind": "HyperNode"} for one in sorted(found, key=lambda one: one.name)]
    text = Text("HyperNodes", json.dumps({"kind": "List", "items": items}), labels, topology_name=FOREIGN)
    return _imported("hypernodes", text, "HyperNodes")


class TopologyFiles:
    """A file, or the files of a directory, as a ConfigMap mounts them.

    A file that cannot be read any more stands for what it held when it last could: refused, not gone. Only a file that
    has left its directory is gone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: dict[str, tuple[str, ...]] = {}

    def signature(self) -> tuple[tuple[str, int, int, int], ...]:
        """Differs when a file has changed; blocking."""
        found = []
        try:
            files = self._files()
        except OSError as error:
            return ((str(error.strerror), 0, 0, 0),)
        for file in files:
            try:
                seen = file.stat()
            except OSError:
                found.append((file.name, 0, 0, 0))
            else:
                found.append((file.name, seen.st_ino, seen.st_mtime_ns, seen.st_size))
        return tuple(found)

    def read(self) -> list[Given]:
        """All ClusterTopologies of the files; blocking."""
        try:
            files = self._files()
        except OSError as error:
            return self._lost(f"cannot be read: {error.strerror}")
        if self._path.is_dir():
            listed = {file.name for file in files}
            self._names = {name: known for name, known in self._names.items() if name in listed}
        elif not self._path.exists():
            return self._lost("cannot be read: it is not there")
        return [given for file in files for given in self._read(file)]

    def _files(self) -> list[Path]:
        if not self._path.is_dir():
            return [self._path]
        # A mounted ConfigMap has hidden directories beside the links to its files.
        usable = (file for file in self._path.iterdir() if file.name[0] != "." and file.name.endswith(_SUFFIXES))
        return sorted(file for file in usable if file.is_file())

    def _lost(self, what: str) -> list[Given]:
        finding = _finding(what, str(self._path), "mount it again")
        return [given for name in self._names or (self._path.name,) for given in self._refused(name, [finding])]

    def _read(self, file: Path) -> list[Given]:
        try:
            given = _parse(file.read_bytes(), file)
        except InvalidTopologyError as error:
            return self._refused(file.name, error.findings)
        except InputError as error:
            return self._refused(file.name, [_finding(error.what, error.where or str(file), error.mend)])
        except OSError as error:
            return self._refused(file.name, [_finding(f"cannot be read: {error.strerror}", str(file), "")])
        self._names[file.name] = tuple(one.name for one in given)
        return given

    def _refused(self, file: str, findings: Iterable[Finding]) -> list[Given]:
        names = self._names.get(file) or (file.partition(".")[0],)
        return [Given(name, None, tuple(findings), origin=file) for name in names]


def given_topologies(
    records: Iterable[TopologyRecord],
    files: TopologyFiles | None,
    foreign: Sequence[HyperNode],
    nodes: Iterable[Node],
) -> list[Given]:
    """All that count: objects, mounted files and, without any of those, the HyperNodes of others; blocking.

    Parameters
    ----------
    records
        Objects of the cluster.
    files
        Files that are mounted, if any are.
    foreign
        HyperNodes that may be read: none where our own are written.
    nodes
        Of the cluster; HyperNodes may select by their labels.
    """
    given = [from_record(one) for one in sorted(records, key=lambda one: one.key)]
    given += files.read() if files is not None else []
    if foreign and not given:
        given.append(from_hyper_nodes(foreign, {node.name: node.metadata.labels for node in nodes}))
    return given


def _parse(data: bytes, file: Path) -> list[Given]:
    name = file.name.removesuffix(".gz")
    if name.endswith(".conf"):
        stem = name.removesuffix(".conf")
        return [_imported("slurm-conf", Text(str(file), decode(data, str(file)), topology_name=stem), file.name)]
    sources = parse_topologies(data, str(file))
    return [Given(one.document.name or file.stem, one, one.findings, origin=file.name) for one in sources]


def _imported(form: str, text: Text, origin: str) -> Given:
    try:
        imported = import_topology(form, text)
    except InvalidTopologyError as error:
        return Given(text.topology_name, None, error.findings, origin=origin)
    except TopologyError as error:
        return Given(text.topology_name, None, (_finding(error.what, error.where, error.mend),), origin=origin)
    source = Source(imported.document, Origin(text.name), imported.findings)
    return Given(text.topology_name, source, imported.findings, origin=origin)


def _finding(what: str, where: str, mend: str) -> Finding:
    return Finding(severity=Severity.ERROR, what=what, where=where, mend=mend)
