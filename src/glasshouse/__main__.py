"""The entry point of `python -m glasshouse`, the same as the command `glasshouse`."""

from glasshouse.cli import run

if __name__ == "__main__":
    run()
