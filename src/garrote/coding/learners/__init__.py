"""Ways to learn a dictionary: alternating, from batches, and by pairs of an atom and its codes."""

from garrote.coding.learners.alternating import Alternating
from garrote.coding.learners.base import Learned, LearningMethod, Memory, Task
from garrote.coding.learners.ksvd import KSVD
from garrote.coding.learners.online import Online

# By the name that stands for the default settings. A new way to learn is a new row here.
LEARNERS = {learner.name: learner for learner in (Alternating, Online, KSVD)}

__all__ = [
    "KSVD",
    "LEARNERS",
    "Alternating",
    "Learned",
    "LearningMethod",
    "Memory",
    "Online",
    "Task",
]
