"""`python -m glasshouse` is `glasshouse`."""

from glasshouse.cli import run

if __name__ == "__main__":
    run()
