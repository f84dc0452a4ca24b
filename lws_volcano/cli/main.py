"""`lws-volcano`: finds the command, runs it, and turns what went wrong into one line and an exit code.

Exit codes: 0 fine, 1 the answer is no (infeasible, invalid), 2 wrong usage, 3 cluster unreachable.
"""

import argparse
import gc
import importlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from types import ModuleType
from typing import Any, Final, NoReturn

from lws_volcano import __version__
from lws_volcano.api.errors import ClusterError, InputError, UsageError

__all__ = ["command_parser", "main"]

COMMANDS: Final = {
    "run": "the controller",
    "plan": "offline: what the controller would write and where each pod would go",
    "topology": "the network model on its own: validate, show, hypernodes, import",
    "status": "one row a group: placed or not, where, and why not",
    "doctor": "what in this cluster would silently break gang or topology scheduling",
}
TOPOLOGY_COMMANDS: Final = {
    "validate": "check a topology file",
    "show": "draw a topology as a tree, JSON or SVG",
    "hypernodes": "print the HyperNodes of a topology",
    "import": "make a ClusterTopology from what you have (Slurm, labels, ibnetdiscover, ...)",
}
DEBUG: Final = "LWS_VOLCANO_DEBUG"
EXIT_CODES: Final = "exit codes: 0 fine, 1 the answer is no, 2 wrong usage, 3 the cluster can't be reached or read"

OK, NO, USAGE, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    if sys.stdout is None:  # closed by the caller: `>&-`
        return _say("standard output is closed", NO)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name must not fail for the sake of a terminal
    try:
        return _command(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return INTERRUPTED


def _command(words: Sequence[str]) -> int:
    parser, module = _parser(words)
    args = parser.parse_args(words)
    if module is None:
        parser.print_help()
        return USAGE
    with _no_search_for_cycles() if args.command != "run" else nullcontext():
        return _run(module, args)


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """A command that reads, answers and ends keeps what it reads: to search it for cycles takes longer than reading."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _run(module: ModuleType, args: argparse.Namespace) -> int:
    try:
        code = int(module.run(args))
        sys.stdout.flush()
    except InputError as error:
        return _say(str(error), USAGE if isinstance(error, UsageError) else NO)
    except ClusterError as error:
        return _say(str(error), UNREACHABLE)
    except BrokenPipeError:
        # The reader (head, less) has gone; the interpreter must not complain about it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        if os.environ.get(DEBUG):
            raise
        return _say(str(error.strerror or error) + (f": {error.filename}" if error.filename else ""), NO)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        what = f"{type(error).__name__}: {error}"
        return _say(f"unexpected, a defect of lws-volcano: {what[:500]} (set {DEBUG}=1 for the traceback)", NO)
    return code


def _say(message: str, code: int) -> int:
    with suppress(OSError, AttributeError):  # what was printed so far comes first, where it can be printed at all
        sys.stdout.flush()
    print(f"error: {message}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    """argparse, with the usage of the sub-command in question and our exit code for wrong usage."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Words that a sub-command does not know are its error, not that of the program around it."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and " " in self.prog:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"error: {message}\n")


def command_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser as it is for one command, such as `["topology", "show"]`."""
    return _parser(words)[0]


def _parser(words: Sequence[str]) -> tuple[argparse.ArgumentParser, ModuleType | None]:
    """The parser, filled in only for the command that was asked for, and the module that runs it."""
    parser = _Parser(prog="lws-volcano", description="Multi-node inference groups on Volcano.", epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"lws-volcano {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    asked = _first_word(words)
    module: ModuleType | None = None
    for name, summary in COMMANDS.items():
        if name == "topology":
            module = _topology(commands, summary, words if asked == name else ()) or module
        elif name == asked:
            module = _load(name)
            module.add_parser(commands)
        else:
            commands.add_parser(name, help=summary, add_help=False)
    return parser, module


def _topology(commands: "argparse._SubParsersAction[_Parser]", summary: str, words: Sequence[str]) -> ModuleType | None:
    group = commands.add_parser("topology", help=summary, description=summary)
    inner = group.add_subparsers(dest="topology_command", metavar="COMMAND", parser_class=_Parser, required=True)
    asked = _first_word(words[words.index("topology") + 1 :] if words else ())
    module: ModuleType | None = None
    for name, text in TOPOLOGY_COMMANDS.items():
        if name == asked:
            module = _load(f"topology_{name}")
            module.add_parser(inner)
        else:
            inner.add_parser(name, help=text, add_help=False)
    return module


def _first_word(words: Sequence[str]) -> str:
    return next((word for word in words if not word.startswith("-")), "")


def _load(name: str) -> ModuleType:
    return importlib.import_module(f"lws_volcano.cli.{name}")
