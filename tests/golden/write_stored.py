"""Write one of each stored thing with the command line of any glasshouse, as one archive.

Usage: python write_stored.py PYTHON ARCHIVE. PYTHON is the absolute path of an interpreter that has
the glasshouse to write with, such as that of a worktree of an earlier commit.
See the README in this folder.
"""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import closing
from pathlib import Path

STUDY = """
name = "tiny"
figure = "density"
[stop]
instances = {instances}
[[family]]
method = "random_loops"
parameters = {{ n = {n}, frustration = 0.1 }}
grid = {{ loop_density = [0.3, 0.5] }}
"""

SUITE = """
name = "small"
count = 1
[[family]]
method = "random_loops"
parameters = { n = 4, m = 4, frustration = "1/5", loops = 3 }
[[family]]
method = "partition"
parameters = { n = 5, bits = 4 }
[[family]]
method = "graph_loops"
parameters = { graph = "torus:4x4", frustration = "1/4", length = 4, loops = 3 }
"""

# Loops alone do not prove the optimum of this problem without a tree.
GLASS = """
import numpy, glasshouse as gh
draw = numpy.random.default_rng(2)
i, j = numpy.triu_indices(24, 1)
kept = draw.random(len(i)) < 0.5
edges = numpy.stack([i[kept], j[kept]], axis=1)
problem = gh.Ising.from_edges(24, edges, numpy.full(len(edges), -1))
for name in ("tree.wcnf", "open.wcnf"):
    gh.write(name, problem, dialect="mse22")
"""

SAMPLERS = """
import glasshouse as gh
plants = [gh.random_loops(4, 4, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
samplers = {"anneal": gh.GlasshouseAnnealer(), "temper": gh.GlasshouseTempering()}
gh.race(samplers, plants, reads=5, calls=2, rng=1, store="samplers.sqlite")
"""

# A training writes its checkpoint every few seconds; this one writes it after every epoch, and is
# interrupted after 20. The names are those of commit bb93dd5.
STOPPED_TRAINING = """
from glasshouse.boltzmann import checkpoints, training
from glasshouse.cli import main
checkpoints.SECONDS = training._PIECE_SECONDS = 0.0
advance, epochs = training.Trainer.advance, []
def stopping(self, epoch):
    epochs.append(epoch)
    if len(epochs) > 20:
        raise KeyboardInterrupt
    return advance(self, epoch)
training.Trainer.advance = stopping
assert main({words!r}) == 130
"""

TRAIN = ["train", "bars", "--width", "4", "--length", "2", "--hidden", "3"]
MORE_EPOCHS = ["--epochs", "60", "--every", "7"]
TIME_TO_START = 300.0  # seconds within which an interrupted command must have stored something


class Writer:
    """The commands of one glasshouse, run in one folder."""

    def __init__(self, python: str, folder: Path) -> None:
        self.python, self.folder = python, folder

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        code = "import sys; from glasshouse.cli import main; sys.exit(main(sys.argv[1:]))"
        return subprocess.Popen([self.python, "-c", code, *words], cwd=self.folder)

    def command(self, *words: str, codes: tuple[int, ...] = (0,)) -> None:
        code = self.start(*words).wait()
        if code not in codes:
            raise SystemExit(f"glasshouse {' '.join(words)} ended with exit code {code}")

    def script(self, text: str) -> None:
        subprocess.run([self.python, "-c", text], cwd=self.folder, check=True)

    def interrupted(self, *words: str, after: str) -> None:
        """Run a command, and send SIGINT once it has stored something in the file `after`."""
        process = self.start(*words)
        deadline = time.monotonic() + TIME_TO_START
        while not has_rows(self.folder / after):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"glasshouse {' '.join(words)} was not interrupted")
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.wait()


def has_rows(path: Path) -> bool:
    """Return whether a store contains a batch; any other file counts as soon as it exists."""
    if path.suffix != ".sqlite" or not path.exists():
        return path.exists()
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return bool(database.execute("SELECT count(*) FROM batches").fetchone()[0])
    except sqlite3.OperationalError:
        return False


def write_all(writer: Writer) -> None:
    folder = writer.folder
    (folder / "study.toml").write_text(STUDY.format(n=8, instances=6))
    writer.command("study", "run", "study.toml", "-o", "study.sqlite")
    (folder / "begun.toml").write_text(STUDY.format(n=60, instances=200))
    writer.interrupted("study", "run", "begun.toml", "-o", "begun.sqlite", after="begun.sqlite")

    (folder / "small.toml").write_text(SUITE)
    writer.command("suite", "small.toml", "-o", "suite", "--commit", "--seed", "1",
                   "--format", "qubo")  # fmt: skip
    writer.command("plant", "random", "-n", "4", "-f", "1/5", "--loops", "3", "--seed", "1",
                   "--count", "2", "--out-dir", "manifest")  # fmt: skip
    writer.command("race", "--solver", "prove", "--suite", "suite", "-o", "race.sqlite",
                   "--time-limit", "60", "--meter", "process-group")  # fmt: skip
    writer.script(SAMPLERS)

    writer.command("plant", "random", "-n", "5", "-f", "1/5", "--loops", "4", "--seed", "1",
                   "-o", "loops.wcnf")  # fmt: skip
    writer.command("plant", "random", "-n", "5", "-f", "1/5", "--loops", "4", "--seed", "1",
                   "--shuffle", "-o", "plant.npz")  # fmt: skip
    writer.command("plant", "wishart", "-n", "8", "--columns", "4", "--seed", "1",
                   "-o", "squares.qubo")  # fmt: skip
    writer.script(GLASS)
    writer.command("prove", "tree.wcnf", "--veripb", "tree.pbp")
    writer.command("prove", "open.wcnf", "--veripb", "open.pbp", "--node-limit", "1", codes=(1,))
    for name in ("tree.pbp", "open.pbp"):
        (folder / name).unlink(missing_ok=True)

    writer.command(*TRAIN, "--epochs", "20", "--count", "2", "-o", "training.sqlite")
    writer.command(*TRAIN, "--epochs", "20", "-o", "model.npz")
    writer.script(STOPPED_TRAINING.format(words=[*TRAIN, *MORE_EPOCHS, "-o", "begun.npz"]))


def main() -> None:
    python, archive = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        write_all(Writer(python, Path(name)))
        with tarfile.open(archive, "w:xz") as packed:
            for path in sorted(Path(name).rglob("*")):
                if path.is_file():
                    packed.add(path, arcname=str(path.relative_to(name)))


if __name__ == "__main__":
    main()
