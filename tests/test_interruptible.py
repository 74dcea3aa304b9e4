"""Work in a second thread, which is reused, and its interruption."""

from __future__ import annotations

import math
import signal
import threading
import time

import pytest

from glasshouse.waiting import interruptible

IDLE = []


def aside(work, stop, **options):
    """Do work to its end in a reused thread, as for HiGHS."""
    return interruptible(work, stop, patience=math.inf, idle=IDLE, **options)


def test_results_and_errors_come_back():
    assert aside(threading.current_thread, stop=lambda: None) is not threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 // 0, stop=lambda: None)
    assert aside(lambda: "again", stop=lambda: None) == "again"


def test_threads_are_used_again():
    threads = {aside(threading.get_ident, stop=lambda: None) for _ in range(20)}
    assert len(threads) == 1


def test_work_aside_may_have_work_aside():
    inner = lambda: aside(lambda: 6 * 7, stop=lambda: None)  # noqa: E731
    assert aside(inner, stop=lambda: None) == 42


def test_a_deadline_asks_to_stop_and_the_result_counts():
    asked = threading.Event()

    def work():
        assert asked.wait(60)
        return "so far"

    assert aside(work, asked.set, time_limit=0.0) == "so far"


def test_ctrl_c_is_raised_once_the_work_has_ended():
    begun, asked, ended = threading.Event(), threading.Event(), threading.Event()

    def work():
        begun.set()
        assert asked.wait(60)
        ended.set()

    def press():
        begun.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        finger = threading.Thread(target=press)
        finger.start()
        with pytest.raises(KeyboardInterrupt):
            aside(work, asked.set)
        assert ended.is_set()
    finally:
        signal.signal(signal.SIGINT, before)
        finger.join()
    assert aside(lambda: 1, stop=lambda: None) == 1


def test_work_that_does_not_stop_is_left_behind_and_its_thread_ends():
    before = set(threading.enumerate())
    begun, let_go = threading.Event(), threading.Event()

    def work():
        begun.set()
        assert let_go.wait(60)

    def press():
        begun.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        finger = threading.Thread(target=press)
        finger.start()
        with pytest.raises(KeyboardInterrupt):
            interruptible(work, lambda: None, patience=0.0)
    finally:
        signal.signal(signal.SIGINT, handler)
        finger.join()
    let_go.set()
    last = time.monotonic() + 60
    while set(threading.enumerate()) - before and time.monotonic() < last:
        time.sleep(0.05)
    assert not set(threading.enumerate()) - before
