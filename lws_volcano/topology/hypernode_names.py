"""Names of HyperNodes: DNS-safe, at most 253 characters, the same in every run, never two domains with one name.

A name is `<topology>.<domain>`. Where the domain's own name cannot be kept as it is (upper case, other characters, too
long) a mark made from it is added, so that two domains that would read the same stay two.
"""

import hashlib
import re
from collections.abc import Collection, Iterable
from typing import Final

__all__ = ["dns_safe", "label_value", "unique_names"]

MAX_NAME: Final = 253
MAX_LABEL: Final = 63
_OTHER: Final = re.compile(r"[^a-z0-9.]+")
_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")


def dns_safe(name: str) -> str:
    """A DNS subdomain name for any text; the text itself where it is one.

    Examples
    --------
    >>> dns_safe("dc1.rack-1"), dns_safe("Rack 1")
    ('dc1.rack-1', 'rack-1-65bcebbb')
    """
    parts = (_OTHER.sub("-", part).strip("-") for part in name.lower().split("."))
    safe = ".".join(part for part in parts if part) or "domain"
    return safe if safe == name and len(name) <= MAX_NAME else marked(safe, name)


def marked(safe: str, identity: str) -> str:
    """The name with a mark made from what it stands for."""
    mark = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{safe[: MAX_NAME - len(mark) - 1].rstrip('-.')}-{mark}"


def label_value(text: str) -> str:
    """A label value for any text; the text itself where it is one."""
    if len(text) <= MAX_LABEL and (not text or _LABEL.fullmatch(text)):
        return text
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{dns_safe(text)[: MAX_LABEL - len(mark) - 1].rstrip('-.')}-{mark}"


def unique_names(wanted: Iterable[tuple[str, str]], taken: Collection[str] = ()) -> list[str]:
    """A name for each (readable name, identity), none twice and none that is taken by somebody else."""
    used = set(taken)
    names: list[str] = []
    for readable, identity in wanted:
        name = dns_safe(readable)
        while name in used:
            name = marked(name, f"{name}/{identity}")
        used.add(name)
        names.append(name)
    return names
