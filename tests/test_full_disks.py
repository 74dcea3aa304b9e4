"""A full disk is reported by the name of the file that could not be written, and leaves nothing."""

from __future__ import annotations

import errno
import shutil
import sys

import pytest

from glasshouse.charts.style import save
from glasshouse.files.text.errors import FileAccessError
from glasshouse.store import Store


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes")
@pytest.mark.parametrize("suffix", ["pdf", "png", "svg"])
def test_a_figure_on_a_full_disk(suffix, tmp_path):
    import resource

    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot(range(99))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(FileAccessError, match=f"x.{suffix}: cannot be written"):
            save(figure, [tmp_path / f"x.{suffix}"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def test_a_copy_of_a_store_on_a_full_disk(tmp_path, monkeypatch):
    def refuse(source, target):
        raise OSError(errno.ENOSPC, "No space left on device", source)

    with Store(tmp_path / "a.sqlite", write=True) as store:
        monkeypatch.setattr(shutil, "copyfile", refuse)
        with pytest.raises(FileAccessError, match=r"b.sqlite: cannot be written \(No space left"):
            store.copy_to(tmp_path / "b.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite"]
