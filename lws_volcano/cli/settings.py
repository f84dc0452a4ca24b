"""Reads the configuration file (`api.settings.Settings`)."""

import yaml
from pydantic import ValidationError

from lws_volcano.api.errors import InputError
from lws_volcano.api.settings import Settings
from lws_volcano.cli.files import read_bytes, shown

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
        document = yaml.safe_load(read_bytes(path).decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        raise InputError(f"is not YAML: {said}", where=shown(path), mend="correct the file") from error
    if document is not None and not isinstance(document, dict):
        raise InputError("is not a mapping of settings", where=shown(path), mend="write `name: value` lines")
    try:
        return Settings.model_validate(document or {})
    except ValidationError as error:
        raise InputError(
            _first(error), where=shown(path), mend=f"known are: {', '.join(Settings.model_fields)}"
        ) from error


def _first(error: ValidationError) -> str:
    wrong = error.errors()[0]
    return f"{'.'.join(str(part) for part in wrong['loc'])}: {wrong['msg']}"
