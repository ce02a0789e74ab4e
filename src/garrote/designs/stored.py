"""What may be handed over in place of an array of NumPy: operators, and arrays of other libraries."""

from typing import Any

from garrote.designs.devices import DeviceDesign
from garrote.designs.devices.arrays import is_on_device, to_host
from garrote.designs.operator import OperatorDesign, is_operator


def as_stored(X: Any) -> Any:
    """Return an operator, or an array on a device, as a design; any other array as one of NumPy.

    Everything else stays as it is: designs, data frames, sparse matrices, lists.
    """
    if is_operator(X):
        return OperatorDesign(X)
    return DeviceDesign(X) if is_on_device(X) else to_host(X)
