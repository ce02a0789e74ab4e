"""Write what the code on pages of the manual prints now into these pages.

    python scripts/refresh_pages.py docs/tutorials/messy-table.md README.md

Numbers and words that have changed are then in the diff, to be read before they are committed, together
with the sentences about them.
"""

import os
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Refresh the pages that are named."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    sys.path.insert(0, str(ROOT / "docs" / "extensions"))
    from page_code import refreshed

    for page in map(Path.resolve, map(Path, sys.argv[1:])):
        with TemporaryDirectory() as folder, chdir(folder):
            text = refreshed(page.read_text(), page.name)
        page.write_text(text)


if __name__ == "__main__":
    main()
