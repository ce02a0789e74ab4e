"""Where each equation, section and figure of the five source texts is: the class, function or study."""

from garrote.experiments.texts.iba import IBA
from garrote.experiments.texts.kappen_gomez import KAPPEN_GOMEZ
from garrote.experiments.texts.lecture import LECTURE
from garrote.experiments.texts.murphy import MURPHY
from garrote.experiments.texts.places import Entry, Text
from garrote.experiments.texts.staines_barber import STAINES_BARBER

# The source texts by the names that `garrote texts` knows them by.
TEXTS: dict[str, Text] = {
    "vg": KAPPEN_GOMEZ,
    "vo": STAINES_BARBER,
    "lecture": LECTURE,
    "murphy": MURPHY,
    "iba": IBA,
}

__all__ = ["TEXTS", "Entry", "Text"]
