"""Genotypes of any kind that is known, by the names of their files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from garrote.designs.genotypes.base import GenotypeDesign
from garrote.designs.genotypes.bgen import BgenDesign
from garrote.designs.genotypes.dosages import DosageDesign
from garrote.designs.genotypes.pgen import PgenDesign
from garrote.designs.genotypes.plink import PlinkDesign

_KINDS: dict[str, type[GenotypeDesign]] = {
    kind.suffix: kind for kind in (PlinkDesign, PgenDesign, BgenDesign)
}
SUFFIXES = tuple(_KINDS)


def is_genotypes(path: Any) -> bool:
    """Tell whether a file is of genotypes, by its name."""
    return str(path).endswith(SUFFIXES)


def open_genotypes(
    files: str | Path | Sequence[str | Path], pack: bool = True, **chosen: Any
) -> GenotypeDesign:
    """Return genotypes of .bed, .pgen or .bgen files; ``chosen`` says which, as for `PlinkDesign`.

    Compressed ones are taken into memory in 2 bits each where they are whole numbers and fit, unless
    they are not to be packed.
    """
    given = [files] if isinstance(files, str | Path) else list(files)
    kinds = {Path(one).suffix for one in given}
    if len(kinds) != 1 or not kinds <= set(SUFFIXES):
        raise ValueError(
            f"genotypes are files of one kind, {', '.join(SUFFIXES)}, got {sorted(kinds)}"
        )
    design = _KINDS[kinds.pop()](given, **chosen)
    packed = design.packed() if pack and isinstance(design, DosageDesign) else None
    return packed or design
