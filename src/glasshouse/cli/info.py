"""`glasshouse info` and `glasshouse draw`: the contents of a file, as text or as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glasshouse.cli.options import Force, MaybeWhole, Picture, SourceFormat, Units, source
from glasshouse.cli.output import (
    free_pictures,
    save_pictures,
    show,
    show_json,
    standard_line,
    standard_values,
)


def info(
    file: Path, /, *, format: SourceFormat = None, units: Units = None, json: bool = False
) -> None:
    """Show the contents of a problem file.

    Prints sizes, weights, graph, and what the file states about its plant.

    For instance:

    ```
    glasshouse info inst.wcnf
    glasshouse info inst.wcnf.xz --json
    glasshouse plant random -n 9 -f 1/5 --loops 4 -o - --format coo | glasshouse info - --format coo
    ```

    Args:
        file: a file of any format that glasshouse reads, perhaps compressed (.gz, .xz, .zip).
        json: print one JSON object.
    """
    from glasshouse.files import FileError, read_document
    from glasshouse.files.text.errors import printable
    from glasshouse.landscape import overview

    document = read_document(source(file, format), format=format, units=units)
    view, known = overview(document.problem), document.stated
    if json:
        name = document.measure.name
        stated: dict[str, Any] = {"measure": name, f"planted_{name}": document.stated_value}
        stated |= {"planted_energy": known.cost, "recipe": known.recipe}
        stated |= {"labels": document.problem.labels}
        show_json({"file": str(file), **vars(view), **stated, **standard_values(document)})
        return
    show(view.rows())
    for line in standard_line(document):
        print(line)
    if document.problem.labels is not None:
        first, last = document.problem.labels[0], document.problem.labels[-1]
        show([("labels", printable(f"{first!r:.40} to {last!r:.40}"))])
    if known.cost is not None:
        doubt = "stated; `glasshouse check` verifies it"
        if not document.measure.is_energy:
            doubt = f"energy {known.cost}; {doubt}"
        show([(f"planted {document.measure.name}", f"{document.stated_value} ({doubt})")])
    if document.planted is not None:
        try:
            print(document.planted.summary())
        except ValueError as fault:  # the recipe may come from any program
            raise FileError(file, f"its recipe is not a glasshouse recipe: {fault}") from None
    elif known.recipe is not None:
        for name, key in (("grown by", "method"), ("seed", "seed")):
            show([(name, printable(str(known.recipe.get(key))[:200]))])


def draw(
    file: Path,
    /,
    *,
    output: Picture,
    image_width: MaybeWhole = None,
    format: SourceFormat = None,
    force: Force = False,
) -> None:
    """Draw a planted instance or a trained RBM.

    For an instance, its weight matrix is drawn as written and gauged, or its graph: lattices and
        chips in their own layout, with dead qubits and biases. For an RBM, its receptive fields,
        samples and weights are drawn.

    For instance:

    ```
    glasshouse draw hard.npz -o hard.png
    glasshouse plant structured -n 40 -f 0.23 --loop-density 3 --block 0.3 -o hard.npz
    glasshouse train run bars --hidden 12 -o bars.npz
    glasshouse draw bars.npz --image-width 9 -o bars.png
    ```

    Args:
        file: a planted instance (.npz, or any file whose comments contain its recipe), or the .npz
            of one RBM, as `glasshouse train run … -o NAME.npz` writes it.
        image_width: pixels per row of an RBM's images. By default, images are square if the
            number of visible units is a square, else one row.
    """
    from glasshouse.charts.instance import draw as draw_plant
    from glasshouse.files import read_planted

    paths = free_pictures(output, file, force=force)
    if format is None and file.suffix.lower() == ".npz":
        from glasshouse.boltzmann.model_files import is_machine

        if is_machine(file):
            save_pictures(_machine_figure(file, image_width), paths)
            return
    if image_width is not None:
        raise ValueError(f"--image-width applies to trained RBMs; {file} contains an instance")
    save_pictures(draw_plant(read_planted(source(file, format), format=format)), paths)


def _machine_figure(file: Path, image_width: int | None) -> Any:
    from glasshouse.boltzmann.figures import machine_figure
    from glasshouse.boltzmann.model_files import load_machine

    machine = load_machine(file)
    if image_width is None:
        return machine_figure(machine)
    if image_width < 1 or machine.num_visible % image_width:
        raise ValueError(f"image_width={image_width} does not divide the {machine.num_visible} "
                         "visible units")  # fmt: skip
    return machine_figure(machine, (machine.num_visible // image_width, image_width))
