"""Loading behind the user's back: models load while the user types."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """A value that is being made in a thread; `get` waits for it, or raises what the making raised."""

    def __init__(self, make: Callable[[], T], *, after: Background[Any] | None = None) -> None:
        """Begin to make the value, once `after` is done: two loads at a time only slow each other down."""
        self._value: T | None = None
        self._error: BaseException | None = None
        self._done = threading.Event()  # a thread that is joined when Ctrl-C comes counts as ended (Python 3.11)
        threading.Thread(target=self._run, args=(make, after), daemon=True).start()

    def _run(self, make: Callable[[], T], after: Background[Any] | None) -> None:
        if after is not None:
            after._done.wait()
        try:
            self._value = make()
        except BaseException as error:  # raised again where the value is asked for
            self._error = error
        finally:
            self._done.set()

    @property
    def is_done(self) -> bool:
        """Whether `get` returns at once."""
        return self._done.is_set()

    def get(self, on_wait: Callable[[], None] | None = None, patience_seconds: float = 1.0) -> T:
        """Return the value; call `on_wait` once if that takes longer than the patience lasts."""
        self._done.wait(patience_seconds)
        if not self.is_done and on_wait is not None:
            on_wait()
        while not self.is_done:
            self._done.wait(0.2)  # in pieces, so that Ctrl-C comes through on every platform
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


def ready(value: T) -> Background[T]:
    """Return a background that has its value already."""
    return Background(lambda: value)
