"""What the first section of the page says: what was found in the table before anything was fitted."""

from collections.abc import Mapping
from typing import Any

from garrote.report.wording import counted, readable, sentence

_MOST_NOTES = 60


def data_check(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return findings, the command that settles them, and how columns were read; None without any."""
    check = document.get("check")
    if check is None or not (check["findings"] or check["reading"]):
        return None
    reading = [sentence(readable(text, 300)) for text in check["reading"]]
    if len(reading) > _MOST_NOTES:
        more = len(reading) - _MOST_NOTES
        reading[_MOST_NOTES:] = [f"{counted(more, 'further note')} in the JSON document."]
    return {
        "findings": [sentence(readable(entry["text"], 600)) for entry in check["findings"]],
        "reading": reading,
        "command": readable(check["command"], 2000) if check["command"] else "",
    }
