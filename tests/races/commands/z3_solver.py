"""z3 in the words of the MaxSAT Evaluation: `python z3_solver.py FILE`, a classic WCNF file."""

import re
import subprocess
import sys
from pathlib import Path


def main(path):
    """Run z3, and print its model as `o`, `s` and `v` lines; the cost is computed from it."""
    run = subprocess.run(["z3", "-model", path], capture_output=True, text=True, check=False)
    if not run.stdout.startswith("sat"):
        print("s UNKNOWN")
        return 0
    found = re.findall(r"define-fun k!([0-9]+) \(\) Bool\s+(true|false)", run.stdout)
    model = {int(variable): value == "true" for variable, value in found}
    rows = [line.split() for line in Path(path).read_text().splitlines()]
    size = next(int(words[2]) for words in rows if words[0] == "p")
    cost = sum(
        int(words[0])
        for words in rows
        if words[0] not in "cp"
        and not any((int(x) > 0) == model.get(abs(int(x)), False) for x in words[1:-1])
    )
    digits = "".join("1" if model.get(k) else "0" for k in range(1, size + 1))
    print(f"o {cost}\ns OPTIMUM FOUND\nv {digits}")
    return 30


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
