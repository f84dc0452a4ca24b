"""structlog: JSON for machines, pretty on a terminal.

Context (the key that is worked on) is bound with `structlog.contextvars.bound_contextvars` around each unit of work.
Log records of libraries go the same way.
"""

import logging
import sys
from typing import Literal

import structlog

__all__ = ["LogFormat", "configure"]

LogFormat = Literal["auto", "json", "pretty"]


def configure(log_format: LogFormat = "auto", level: str = "info") -> None:
    """Set up logging to stderr.

    Parameters
    ----------
    log_format
        `auto` is pretty when stderr is a terminal.
    level
        debug, info, warning or error.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    pretty = log_format == "pretty" or (log_format == "auto" and sys.stderr.isatty())
    structlog.configure(
        processors=[*shared, *_last(pretty)],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_last(pretty)],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Libraries speak up when something is wrong; their daily business is not ours.
    root.setLevel(max(number, logging.WARNING))


def _last(pretty: bool) -> list[structlog.typing.Processor]:
    if pretty:
        return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
