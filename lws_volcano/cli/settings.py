"""Reads the configuration file (`api.settings.Settings`)."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from lws_volcano.api.errors import InputError
from lws_volcano.api.settings import Settings

__all__ = ["load_settings"]


def load_settings(path: str | None) -> Settings:
    """Settings of a YAML or JSON file with the fields of `Settings`; the defaults without a file.

    Raises
    ------
    InputError
        The file cannot be read, is not YAML, or holds a field or value that there is not.
    """
    if path is None:
        return Settings()
    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=path, mend="give a readable file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"is not YAML: {error}", where=path) from error
    if document is not None and not isinstance(document, dict):
        raise InputError("is not a mapping of settings", where=path, mend="write `name: value` lines")
    try:
        return Settings.model_validate(document or {})
    except ValidationError as error:
        raise InputError(_first(error), where=path, mend=f"known are: {', '.join(Settings.model_fields)}") from error


def _first(error: ValidationError) -> str:
    wrong = error.errors()[0]
    return f"{'.'.join(str(part) for part in wrong['loc'])}: {wrong['msg']}"
