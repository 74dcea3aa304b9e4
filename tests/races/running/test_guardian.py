"""Scratch folders: gone afterwards, and what cannot be removed costs no run."""

from __future__ import annotations

import tempfile

from glasshouse.races.running.guardian import scratch_folder


def test_a_link_in_place_of_the_folder_goes_and_what_it_leads_to_stays(tmp_path):
    (tmp_path / "precious").write_text("mine")
    with scratch_folder("glasshouse-test-") as folder:
        folder.rmdir()
        folder.symlink_to(tmp_path)
    assert not folder.is_symlink()
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_file_in_place_of_the_folder_goes(tmp_path):
    with scratch_folder("glasshouse-test-") as folder:
        folder.rmdir()
        folder.write_text("no folder")
    assert not folder.exists()


def test_a_clean_up_that_fails_costs_nothing(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise PermissionError("immutable")

    with scratch_folder("glasshouse-test-") as folder:
        (folder / "x").write_text("")
        monkeypatch.setattr(tempfile.TemporaryDirectory, "_rmtree", fail)
    assert not folder.exists()
