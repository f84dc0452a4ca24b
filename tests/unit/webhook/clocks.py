"""A clock that stands until it is moved; `sleep` moves it."""

from datetime import UTC, datetime, timedelta


class StandingClock:
    """Wall and monotonic time, both moved by `advance`."""

    def __init__(self, start=datetime(2030, 1, 1, tzinfo=UTC)):
        self._now = start
        self._seconds = 0.0

    def advance(self, delta):
        """Let time pass."""
        self._now += delta
        self._seconds += delta.total_seconds()

    def now(self):
        """Wall clock."""
        return self._now

    def monotonic(self):
        """Seconds since the start."""
        return self._seconds

    async def sleep(self, seconds):
        """Pass the time at once."""
        self.advance(timedelta(seconds=seconds))

    def random(self):
        """No spread."""
        return 0.5
