"""Waiting times that grow, with jitter, so that many who failed together do not come back together."""

from lws_volcano.kube.clock import Clock

__all__ = ["Backoff"]


class Backoff:
    """`first`, twice that, and so on up to `limit`; each made longer by a random part of up to its own length.

    Source: client-go tools/cache/reflector.go (0.8 s to 30 s, factor 2, jitter 1).
    """

    def __init__(self, clock: Clock, first: float = 0.8, limit: float = 30.0) -> None:
        self._clock = clock
        self._first = first
        self._limit = limit
        self._next = first

    def reset(self) -> None:
        """Something worked: start from the beginning."""
        self._next = self._first

    def seconds(self, at_least: float | None = None) -> float:
        """The next waiting time, not shorter than what the server asked for."""
        base = self._next
        self._next = min(2 * base, self._limit)
        return max(min(base * (1 + self._clock.random()), self._limit), at_least or 0.0)

    async def wait(self, at_least: float | None = None) -> None:
        """Wait that long."""
        await self._clock.sleep(self.seconds(at_least))
