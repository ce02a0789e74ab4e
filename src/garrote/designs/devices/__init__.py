"""Matrices on GPUs, and what is to be known of arrays there."""

from garrote.designs.devices.device import DeviceDesign

__all__ = ["DeviceDesign"]
