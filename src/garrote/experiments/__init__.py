"""The published studies, run again: what the texts print beside what comes out here.

``python -m garrote.experiments --list`` names them; `run_study` runs one from Python.
"""

from garrote.experiments.registry import STUDIES, run_study
from garrote.experiments.report import Report, StudySettings

__all__ = ["STUDIES", "Report", "StudySettings", "run_study"]
