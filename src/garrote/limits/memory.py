"""How much memory is free, where the system tells."""

from pathlib import Path

_SYSTEM = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Return the bytes that can still be taken, of the machine and of the container; None if unknown."""
    known = [n for n in (_of_machine(), _of_container()) if n is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = _SYSTEM.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0]) if found else None


def _of_container() -> int | None:
    try:
        limit, used = (
            (_GROUP / name).read_text().strip() for name in ("memory.max", "memory.current")
        )
        return None if limit == "max" else max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return None
