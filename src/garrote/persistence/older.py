"""What older garrotes wrote, as this one would have written it."""

from typing import Any

from garrote.results.certificates import Certificate, equations


def renewed(cls: type, found: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an object in a file by their present names."""
    if cls is Certificate and "inclusion" in found:
        return vars(equations(found))
    return found
