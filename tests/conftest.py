"""How Hypothesis runs here: reproducibly, and without deadlines (the first call may compile)."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "glasshouse",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("glasshouse")
