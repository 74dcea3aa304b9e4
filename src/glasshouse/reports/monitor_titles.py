"""What the page calls the monitors of a training; `MONITORS` says what each of them means."""

from __future__ import annotations

_TITLES = {
    "kl": "KL divergence",
    "held_out": "Log-likelihood of held-out data",
    "ais": "Log-likelihood by annealed importance sampling",
    "held_out_ais": "Held-out log-likelihood by annealed importance sampling",
    "ais_error": "Error of annealed importance sampling",
    "frustration": "Frustration index",
    "proven": "Share of proven modes",
    "last_frustration": "Frustration index when last used",
}


def monitor_title(name: str) -> str:
    """The title of a monitor's figure.

    >>> monitor_title("kl"), monitor_title("log_likelihood"), monitor_title("")
    ('KL divergence', 'Log likelihood', '')
    """
    plain = name.replace("_", " ")
    return _TITLES.get(name, plain[:1].upper() + plain[1:])


def monitor_label(name: str) -> str:
    """The same within a line, as on an axis.

    >>> monitor_label("kl"), monitor_label("frustration")
    ('KL divergence', 'frustration index')
    """
    title = monitor_title(name)
    return title if title[:2].isupper() else title[:1].lower() + title[1:]
