"""Binary quadratic programmes: quadratic functions of switches, maximised between two bounds."""

from garrote.binary.maximising import BinaryMaximum, maximise_binary
from garrote.binary.methods import METHODS, Annealing, Ascent, SwitchSearch, Tabu
from garrote.binary.programme import BinaryProgramme
from garrote.binary.subsets import subset_programme

__all__ = [
    "METHODS",
    "Annealing",
    "Ascent",
    "BinaryMaximum",
    "BinaryProgramme",
    "SwitchSearch",
    "Tabu",
    "maximise_binary",
    "subset_programme",
]
