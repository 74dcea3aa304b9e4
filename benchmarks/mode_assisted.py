"""Mode-assisted training compared with CD-1, PCD and tempered chains, at equal CPU time.

`python -m benchmarks mode_assisted [--seeds 10] [--seconds 20] [--until HH:MM]` trains machines of
784 × 500 units on scikit-learn's digits, upscaled to 28 × 28 pixels. Each finished machine is a
line of `results/mode-assisted.jsonl`, from which the command resumes. `--page` writes the page
only. `--picture FILE` trains the first machine of PCD again, and draws some of its receptive fields
and samples.

The number of epochs of each method is chosen once, from the CPU time of a few epochs and modes at
the start of a run, and stored in the file. So machines depend on their seeds only.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from io import BytesIO
from pathlib import Path
from typing import Any

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import numpy as np
from scipy.ndimage import zoom
from scipy.stats import t as student
from sklearn.datasets import load_digits

from benchmarks.record import RESULTS, store
from glasshouse.boltzmann import (
    BoltzmannMachine,
    Trainer,
    TrainingSettings,
    annealed_importance,
    find_mode,
    reverse_importance,
)
from glasshouse.boltzmann.data import split

KEPT, HIDDEN, BATCH = RESULTS / "mode-assisted.jsonl", 500, 100
CHAINS, STEPS = 30, 4000  # chains of importance sampling, and their steps
SHOWN = 49  # receptive fields and samples of a picture
SHARED: dict[str, Any] = {
    "units": "binary", "batch_size": BATCH, "learning_rate": (0.05, 0.001), "schedule": "cosine",
    "engine": "matrices", "precision": "single", "first_biases": "data",
}  # fmt: skip
METHODS: dict[str, dict[str, Any]] = {
    "CD-1": {},
    "PCD": {"gradient": "pcd", "chains": 100},
    "tempered": {"gradient": "pcd", "chains": 10, "temperatures": 10},
    "mode-assisted CD-1": {"mode_probability": 0.1, "mode_search": "anneal"},
}


def data() -> tuple[Any, Any]:
    """Return 1,438 training digits and 359 held-out digits, the same for every machine."""
    pixels = load_digits().images
    large = np.stack([zoom(image, 3.5, order=1) > 7 for image in pixels])
    return split(large.reshape(len(large), -1).astype(np.int8), 0.2, rng=0)


def settings(method: str, epochs: int) -> TrainingSettings:
    return TrainingSettings(HIDDEN, epochs, **SHARED, **METHODS[method])


def chosen_epochs(rows: Any, seconds: float) -> dict[str, int]:
    """Return the number of epochs of each method that fits into the CPU time."""
    found = {}
    machine = Trainer(rows, settings("CD-1", 1), rng=0)
    machine.advance(1)
    find_mode(machine.machine, search="anneal", rng=0)  # compiles
    begin = time.process_time()
    for k in range(5):
        find_mode(machine.machine, search="anneal", rng=k)
    mode = (time.process_time() - begin) / 5
    for method in METHODS:
        plain = METHODS[method] | {"mode_probability": 0.0}
        trainer = Trainer(rows, TrainingSettings(HIDDEN, 12, **SHARED, **plain), rng=0)
        trainer.advance(2)
        begin = time.process_time()
        trainer.advance(12)
        epoch = (time.process_time() - begin) / 10
        batches = -(-len(rows) // BATCH)
        most = int(seconds / epoch)
        while most > 1:
            modes = settings(method, most).mode_chances().sum() * batches
            if most * epoch + modes * mode <= seconds:
                break
            most = int(most * 0.98)
        found[method] = most
    return found


def train(method: str, epochs: int, seed: int, rows: Any) -> tuple[BoltzmannMachine, Any]:
    trainer = Trainer(rows, settings(method, epochs), rng=seed)
    begin = time.process_time()
    trainer.advance(epochs)
    spent = time.process_time() - begin
    return trainer.machine, {"CPU s": spent, "modes": trainer.run().modes}


def measured(machine: BoltzmannMachine, rows: Any, held_out: Any, seed: int) -> dict[str, Any]:
    """Return estimates of ln Z from below and above, and log-likelihoods by the first estimate."""
    below = annealed_importance(machine, data=rows, chains=CHAINS, temperatures=STEPS, rng=seed)
    start = machine.sample(CHAINS, steps=2000, rng=seed)
    above = reverse_importance(machine, start, data=rows, temperatures=STEPS, rng=seed)
    return {
        "ln Z": below.value, "error": below.error, "effective chains": below.effective_chains,
        "reverse ln Z": above.value, "reverse error": above.error,
        "learnt": float(machine.log_weight(rows).mean()) - below.value,
        "held out": float(machine.log_weight(held_out).mean()) - below.value,
    }  # fmt: skip


def lines() -> list[dict[str, Any]]:
    if not KEPT.exists():
        return []
    return [json.loads(line) for line in KEPT.read_text().splitlines() if line.endswith("}")]


def keep(row: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    with KEPT.open("a") as file:
        file.write(json.dumps(row) + "\n")


def write_page() -> None:
    """Write the page: means over seeds, and differences to CD-1 of the same seeds."""
    rows = [row for row in lines() if "method" in row]
    plan = next((row for row in lines() if "epochs of" in row), {"seconds": 0})
    reference = {row["seed"]: row["held out"] for row in rows if row["method"] == "CD-1"}
    shown = []
    for method in METHODS:
        own = [row for row in rows if row["method"] == method]
        if not own:
            continue
        gains = [row["held out"] - reference[row["seed"]] for row in own
                 if row["seed"] in reference]  # fmt: skip
        shown.append({
            "method": method, "seeds": len(own), "epochs": own[0]["epochs"],
            "CPU s": float(np.mean([row["CPU s"] for row in own])),
            "modes": float(np.mean([row["modes"] for row in own])),
            "learnt, nats": interval([row["learnt"] for row in own]),
            "held out, nats": interval([row["held out"] for row in own]),
            "against CD-1": "" if method == "CD-1" else interval(gains),
            "largest AIS error": max(row["error"] for row in own),
            "least effective chains": min(row["effective chains"] for row in own),
            "reverse minus forward ln Z": interval(
                [row["reverse ln Z"] - row["ln Z"] for row in own]
            ),
        })  # fmt: skip
    notes = (
        f"1,438 of scikit-learn's digits, upscaled to 784 pixels, 359 held out; {HIDDEN} hidden "
        f"units of 0 and 1, batches of {BATCH}, learning rate 0.05 to 0.001 (cosine), first biases "
        f"from the data, single precision. Epochs were chosen for {plan['seconds']:g} CPU seconds "
        "of training on one thread. Rates were not tuned for each method. PCD has 100 chains, "
        "tempered training ten chains at ten temperatures each, mode-assisted training "
        "P_max = 0.1 with annealed modes, which are not proven. Log-likelihoods are by AIS "
        f"({CHAINS} chains, {STEPS:,} temperatures); reverse chains start at samples of 2,000 "
        "Gibbs steps. ± is half of a 95 % interval of the mean over seeds (Student's); it does not "
        "contain the bias of AIS. With fewer than about ten effective chains neither AIS nor its "
        "error can be relied on, and the difference of the two directions is a better guide."
    )
    store("mode-assisted", "Mode-assisted training at 784 × 500", shown, ("scikit-learn",), notes)


def interval(values: list[float]) -> str:
    mean, count = float(np.mean(values)), len(values)
    if count < 2:
        return f"{mean:.2f}"
    half = float(student.ppf(0.975, count - 1) * np.std(values, ddof=1) / np.sqrt(count))
    return f"{mean:.2f} ± {half:.2f}"


def draw(path: Path, rows: Any) -> None:
    """Draw receptive fields of the first hidden units, and samples, in a small palette."""
    from PIL import Image

    from glasshouse.boltzmann.figures import draw_fields, draw_images
    from glasshouse.charts.style import new_figure, styled

    plan = next(row for row in lines() if "epochs of" in row)
    machine, spent = train("PCD", plan["epochs of"]["PCD"], 1, rows)
    weights = machine.weights[:, :SHOWN]
    step = abs(weights).max() / 20  # few colours make a small file
    parts = step * np.round(weights / step), machine.visible_bias, machine.hidden_bias[:SHOWN]
    with styled(), BytesIO() as file:
        figure, axes = new_figure(8.4, 4.4, columns=2)
        draw_fields(axes[0], BoltzmannMachine(*parts, machine.units))
        axes[0].set_title(f"receptive fields of {SHOWN} of {HIDDEN} hidden units")
        draw_images(axes[1], machine.sample(SHOWN, steps=2000, rng=1))
        axes[1].set_title("samples: 2,000 Gibbs steps from random states")
        figure.savefig(file, dpi=100)
        Image.open(file).convert("RGB").quantize(128, kmeans=1).save(path, optimize=True)
    print(f"{path}: PCD, {plan['epochs of']['PCD']} epochs, {spent['CPU s']:.0f} CPU seconds")


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks mode_assisted")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU time of one training")
    parser.add_argument("--until", help="the time of day (UTC) after which no training starts")
    parser.add_argument("--page", action="store_true", help="write the page only")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw a machine to a PNG file")
    options = parser.parse_args(words or [])
    rows, held_out = data()
    if options.picture:
        draw(options.picture, rows)
        return
    if options.page:
        write_page()
        return
    kept = lines()
    plan = next((row for row in kept if "epochs of" in row), None)
    if plan is None:
        plan = {"epochs of": chosen_epochs(rows, options.seconds), "seconds": options.seconds}
        keep(plan)
    done = {(row["method"], row["seed"]) for row in kept if "method" in row}
    for seed in range(1, options.seeds + 1):
        for method, epochs in plan["epochs of"].items():
            if options.until and time.strftime("%H:%M", time.gmtime()) >= options.until:
                break
            if (method, seed) not in done:
                machine, spent = train(method, epochs, seed, rows)
                row = {"method": method, "seed": seed, "epochs": epochs, **spent}
                row |= measured(machine, rows, held_out, seed)
                keep(row)
                print(row, flush=True)
    write_page()
