"""Every benchmark, one after the other, or those that are named: `python -m benchmarks [NAME...]`.

Each is a module of its own with further arguments: `python -m benchmarks.gang --help`. They print tables; what was
measured last, and on what, is in README.md beside this file.
"""

import argparse
import importlib
from typing import Final

NAMES: Final = ("topology", "importers", "planner", "plan_files", "webhook", "gang", "hints")


def main() -> int:
    """0, or the exit code of the first that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    chosen = parser.parse_args().names or NAMES
    unknown = sorted(set(chosen) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    for name in chosen:
        print(f"\n## {name}\n", flush=True)
        code = importlib.import_module(f"benchmarks.{name}").main([])
        if code:
            return int(code)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
