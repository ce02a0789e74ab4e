"""``python -m garrote`` is the command ``garrote``."""

import sys

from garrote.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
