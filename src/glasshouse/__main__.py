"""The entry point of `python -m glasshouse`, which runs the command `glasshouse`."""

from glasshouse.cli import run

if __name__ == "__main__":
    run()
