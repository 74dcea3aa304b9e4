"""Real commands stop correctly when signals arrive at random moments."""

from __future__ import annotations

import random
import signal
import sys

import pytest
from fuzz.scenes import SCENES
from fuzz.signals import shoot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
NAMES = {scene.name: scene for scene in SCENES}


@pytest.mark.parametrize(
    ("name", "number", "share"),
    [
        ("solve-anneal-rules", signal.SIGTERM, 0.7),
        ("solve-brute", signal.SIGINT, 1.0),
        ("plant-random", signal.SIGINT, 0.6),
        ("train-one", signal.SIGTERM, 0.6),
        ("study-workers", signal.SIGTERM, 0.5),
    ],
)
def test_one_signal(name, number, share):
    assert shoot(NAMES[name], number, share, is_cold=False).faults == ()


@pytest.mark.slow
@pytest.mark.parametrize("is_cold", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_few_signals_at_random_moments(name, is_cold):
    scene, chance = NAMES[name], random.Random(name)
    if not scene.is_possible():
        pytest.skip(f"{scene.needs} is not installed")
    for number in (signal.SIGINT, signal.SIGTERM):
        shot = shoot(scene, number, chance.uniform(0, 1.1), is_cold)
        assert shot.faults == (), shot
