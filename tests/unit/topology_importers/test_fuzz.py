"""Broken input of every format: cut off, mutated, or made to blow up. Seeded and bounded, so a run can be repeated.

Covers: nothing but our own errors comes out, whatever the bytes; what does come out is a strict tree; small files that
would need a lot of memory or time are refused. Leaves out: whether a mutated file that is still sound is read rightly.
"""

import gzip
import random
import tracemalloc
from collections.abc import Iterator

import pytest

from lws_volcano.api.errors import InputError, TopologyError
from lws_volcano.topology.importers.registry import FORMATS, import_topology
from lws_volcano.topology.importers.source import Source, decode
from tests.unit.topology_importers.builders import DATA, EXAMPLES, built

ROUNDS = 60
SPLINTERS = [
    b"[", b"]", b"{", b"}", b"\x00", b"\xff\xfe", b",", b"=", b'"', b"'", b"\\", b"\r", b"\n", b"\t", b"-", b": ", b"#",
    b"n[0-99999999]", b"n[5-2]", b"&a ", b"*a", b"!!python/object:os.system ", b"null", b"~", b"1e999", b"-1", b"0x1p3",
    b"SwitchName=x Switches=x", b"(a+)+$", b"H-0", b"S-0000", b"\xc3\xa9", b"\xe2\x80\xae", b"2026-01-01", b"<<: ",
]  # fmt: skip


def attempt(form: str, data: bytes, *, keep_going: bool) -> None:
    """Import; our own refusal is as good as a strict tree."""
    try:
        text = decode(data, "input")
        found = import_topology(form, Source("input", text, keep_going=keep_going))
    except InputError:
        return
    built(found)


def mutations(data: bytes, dice: random.Random) -> Iterator[bytes]:
    """Cut off, pieces lost, repeated, exchanged, and strange bytes put in."""
    for _ in range(ROUNDS):
        mutated = bytearray(data)
        for _ in range(dice.choice((1, 1, 2, 5, 20))):
            one, other = sorted(dice.randrange(len(mutated) + 1) for _ in range(2))
            match dice.randrange(6):
                case 0:
                    del mutated[one:]
                case 1:
                    del mutated[one : one + dice.randrange(1, 40)]
                case 2:
                    mutated[one:one] = mutated[one : min(other, one + 400)]
                case 3:
                    mutated[one:one] = dice.choice(SPLINTERS)
                case 4 if one < len(mutated):
                    mutated[one] = dice.randrange(256)
                case _:
                    lines = bytes(mutated).split(b"\n")
                    dice.shuffle(lines) if dice.random() < 0.2 else lines.insert(0, lines.pop())
                    mutated = bytearray(b"\n".join(lines))
            if not mutated:
                break
        yield bytes(mutated)


@pytest.mark.parametrize(("form", "name"), EXAMPLES)
def test_mutated_files_are_read_or_refused(form: str, name: str) -> None:
    """Sixty mutations of each example, with and without keep-going."""
    dice = random.Random(f"{form} {name}")
    for mutated in mutations((DATA / name).read_bytes(), dice):
        attempt(form, mutated, keep_going=dice.random() < 0.5)


@pytest.mark.parametrize(("form", "name"), EXAMPLES)
def test_cut_off_files_are_read_or_refused(form: str, name: str) -> None:
    """Forty prefixes of each example."""
    data = (DATA / name).read_bytes()
    for step in range(40):
        attempt(form, data[: len(data) * step // 40], keep_going=step % 2 == 0)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", sorted({name for _, name in EXAMPLES}))
def test_files_of_another_format_are_refused(form: str, name: str) -> None:
    """Every example given to every importer."""
    attempt(form, (DATA / name).read_bytes(), keep_going=False)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b"- " * 20_000,
        b'{"a":' * 50_000,
        b"a: " * 20_000,
        b"\x1f\x8b",
        gzip.compress(b"x" * 1000, mtime=0)[:-4],
        b"\x00" * 100,
        b"\xff\xfe\x00",
        b"a" * 1_000_000,
        b"\n" * 100_000,
        b"SwitchName=" + b"x" * 100_000,
        b"[1](" * 10_000,
    ],
    ids=lambda data: data[:8].hex(),
)
def test_hostile_bytes_are_refused(form: str, data: bytes) -> None:
    """Deep nesting, broken archives, endless lines."""
    attempt(form, data, keep_going=False)


BOMBS = {
    "host ranges": ("slurm-conf", b"\n".join(b"SwitchName=s%d Nodes=n%d[1-99999]" % (at, at) for at in range(200))),
    "one range": ("slurm-conf", b"SwitchName=s Nodes=n[0-999999999999]"),
    "aliases": (
        "slurm-yaml",
        b"- topology: t\n  tree:\n    switches:\n    - {switch: a, nodes: &n [" + b"'n[1-999]'," * 200 + b"]}\n"
        + b"".join(b"    - {switch: a%d, nodes: *n}\n" % at for at in range(2000)),
    ),
    "laughs": (
        "topograph-model",
        b"a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        + b"".join(b"a%d: &a%d [%s]\n" % (at, at, b", ".join([b"*a%d" % (at - 1)] * 9)) for at in range(1, 12)),
    ),
    "gzip": ("slurm-conf", gzip.compress(b"\0" * (200 * 2**20), 9)),
}  # fmt: skip


@pytest.mark.parametrize("kind", BOMBS)
def test_bombs_are_refused_before_they_go_off(kind: str) -> None:
    """Small files that stand for something huge stay below a quarter of a gigabyte."""
    form, data = BOMBS[kind]
    tracemalloc.start()
    try:
        with pytest.raises(TopologyError):
            import_topology(form, Source("input", decode(data, "input")))
        assert tracemalloc.get_traced_memory()[1] < 256 * 2**20
    finally:
        tracemalloc.stop()


def test_regular_expressions_take_linear_time() -> None:
    """A pattern that makes a backtracking matcher hang is answered at once."""
    text = (DATA / "hypernodes.yaml").read_text()
    text = text.replace("n[0-3]", "(n*)*(n*)*(n*)*$x").replace('"name": "n0"', f'"name": "{"n" * 200}"')
    attempt("hypernodes", text.encode(), keep_going=False)
