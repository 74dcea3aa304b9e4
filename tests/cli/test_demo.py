"""`glasshouse demo`: it ends well, and shows what the commands themselves say."""

from pathlib import Path

from glasshouse.cli import main


def test_it_shows_what_the_commands_say(capsys):
    here = Path.cwd()
    assert main(["demo"]) == 0
    told = capsys.readouterr().out
    for line in (
        "inst.wcnf: VERIFIED, 105 is the optimum cost (proven by 35 loops)",
        "inst.wcnf: the file states a cost of 104, but the least cost is 105",
        "this is the optimum, by the file's certificate",
        "inst.wcnf: wrong optimum: o 104, but every assignment costs at least 105",
    ):
        assert line in told.splitlines()
    assert Path.cwd() == here


def test_the_plant_that_it_shows_is_the_one_that_it_grows(tmp_path, monkeypatch, capsys):
    main(["demo"])
    words = next(w for w in capsys.readouterr().out.splitlines() if w.startswith("$ glasshouse pl"))
    monkeypatch.chdir(tmp_path)
    assert main(words.split()[2:]) == 0
    assert main(["check", "inst.wcnf"]) == 0
    assert "105 is the optimum cost (proven by 35 loops)" in capsys.readouterr().out
