"""`python -m fuzz.engine TARGET FOLDER SCRATCH [OPTIONS of libFuzzer]`: fuzz one target."""

from __future__ import annotations

import importlib.util
import random
import shutil
import sys
from pathlib import Path

import atheris


def _compiled_modules() -> list[str]:
    """Return modules that must not be instrumented, because Numba compiles their bytecode."""
    package = importlib.util.find_spec("glasshouse")
    assert package is not None
    assert package.origin is not None
    root = Path(package.origin).parent
    paths = [path.relative_to(root.parent).with_suffix("") for path in root.rglob("*.py")]
    kernels = [path for path in paths if "kernels" in path.parts or path.stem == "compiled"]
    return [".".join(path.parts).removesuffix(".__init__") for path in kernels]


_INSTRUMENTED = {"include": ["glasshouse", "tomllib"], "exclude": _compiled_modules()}

with atheris.instrument_imports(**_INSTRUMENTED):
    from fuzz.findings import Findings
    from fuzz.known import STILL_FAILING
    from fuzz.last_input import LastInput
    from fuzz.mutators import words
    from fuzz.promises import keep_promises, limit_addresses
    from fuzz.targets import TARGETS, corpus_of


def main(name: str, place: Path, scratch: Path, options: list[str]) -> None:
    """Fuzz a target and save its findings, until libFuzzer ends the process."""
    target = TARGETS[name]
    findings = Findings(place / "findings")
    inputs = _inputs(name, place)

    last = LastInput(place / "last", target.longest)
    executed = 0

    def one(data: bytes) -> None:
        nonlocal executed
        last.remember(data)
        executed += 1
        if executed % 1000 == 0:
            (place / "executed").write_text(str(executed))  # in case the process crashes
            limit_addresses()  # again, because the fuzzer itself needs more memory by now
        try:
            keep_promises(target.run, data, scratch)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as fault:
            findings.keep(fault, data)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        # Half of the changes are libFuzzer's own, by bytes, its dictionary and comparisons.
        chance = random.Random(seed)
        new = target.mutate(data, chance) if chance.random() < 0.5 else atheris.Mutate(data, most)
        return new[:most]

    with atheris.instrument_imports(**_INSTRUMENTED):
        for path in sorted(inputs.iterdir())[:20]:  # loads and compiles everything before the limit
            one(path.read_bytes())
    dictionary = place / "words.dict"
    dictionary.write_text(words.dictionary())
    limit_addresses()
    arguments = [
        sys.argv[0], f"-max_len={target.longest}", f"-dict={dictionary}", "-timeout=30",
        "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=0",
        f"-artifact_prefix={findings.folder}/", *options, str(inputs),
    ]  # fmt: skip
    atheris.Setup(arguments, one, custom_mutator=mutate)
    atheris.Fuzz()


def _inputs(name: str, place: Path) -> Path:
    """Return the folder of earlier inputs and the corpus, without inputs that still fail."""
    inputs = place / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    for path in corpus_of(name):
        is_long = path.stat().st_size > TARGETS[name].longest  # libFuzzer would truncate the input
        if is_long or f"{name}/{path.name}" in STILL_FAILING:
            (inputs / path.name).unlink(missing_ok=True)
        else:
            shutil.copyfile(path, inputs / path.name)
    return inputs


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
