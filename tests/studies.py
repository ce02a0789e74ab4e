"""Quick versions of the published studies, each run once for all tests of a process."""

from functools import cache

from garrote.experiments import Report, StudySettings, run_study


@cache
def quick_study(name: str) -> Report:
    """Return the report of a study in its quick version; nobody may change its numbers."""
    return run_study(name, StudySettings(quick=True))
