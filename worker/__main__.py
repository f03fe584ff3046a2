"""``python -m worker``: the same as the command ``worker``."""

from worker.cli import main

if __name__ == "__main__":
    main()
