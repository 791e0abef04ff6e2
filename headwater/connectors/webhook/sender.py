"""Sends messages one after the other, each until it is accepted.

In: messages. Out: each was accepted once this returns; otherwise an error says why it was not.

- connection errors, timeouts and the statuses 408, 425, 429 and 5xx are tried again for a while,
  with growing pauses, or after what ``Retry-After`` says. Then it is the worker's to wait.
- redirects (which are not followed), 401, 403, 404 and their like blame the address or its
  credentials: it is the worker's to try again until somebody has mended them
- 410 and every other status blame the message or end the address for good: the sink stops, or skips
  the message if it is told to

What was accepted of a delivery is remembered as long as the process lives: a message that fails
again and again does not repeat those before it.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import requests
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_before_delay

from headwater.connectors.webhook.messages import Message
from headwater.connectors.webhook.signature import signed_headers
from headwater.errors import ServiceError, Span, TerminalError

log = logging.getLogger(__name__)

_AGAIN = (408, 425, 429)
_OF_ADDRESS = (401, 402, 403, 404, 405, 407, 421)
_GONE = 410
_LONGEST_RETRY_AFTER = 3600.0
_GRACE = 10.0
"""Seconds that a delivery may still take once the run was asked to stop."""
_SHOWN = 300  # characters of an answer


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the messages of a sink go, and how.

    Attributes:
        sink: name of the sink.
        shown: the address as messages show it, without secrets.
        url: the address.
        headers: of every request.
        key: signs the messages, if given.
        timeout: seconds for a connection, and for an answer.
        every: least seconds between the beginnings of two requests.
        verify: whether certificates are checked, or the file of authorities to check them by.
        proxies: whether proxies of the environment are used.
        skips: whether a message that is refused for good is skipped.
        span: where the sink is defined.
    """

    sink: str
    shown: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    key: bytes | None = None
    timeout: float = 10.0
    every: float = 0.0
    verify: bool | str = True
    proxies: bool = True
    skips: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a message is tried before the worker waits: pauses of 0.5, 1, 2, … seconds.

    Attributes:
        first: the first pause in seconds; each is between its half and its whole.
        longest: the longest pause in seconds.
        whole: seconds after which it is enough.
    """

    first: float = 0.5
    longest: float = 8.0
    whole: float = 20.0


@dataclass(slots=True)
class SentMessages:
    """What this process knows of the newest delivery of a sink.

    Attributes:
        delivery: identifies it.
        accepted: identities of its messages that were accepted.
        not_before: when the server wants the next request, in seconds of the monotonic clock.
        next_at: when the next one may begin by the limit of the sink, likewise.
    """

    delivery: str = ""
    accepted: set[str] = field(default_factory=set)
    not_before: float = 0.0
    next_at: float = 0.0

    def begin(self, delivery: str) -> None:
        """Forget what was accepted of another delivery."""
        if delivery != self.delivery:
            self.delivery, self.accepted = delivery, set()


class _TryAgain(Exception):
    """A request that may succeed if it is repeated.

    Attributes:
        after: seconds to wait before that, as the server says.
    """

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class SendingStopped(Exception):
    """The run was asked to stop before every message was accepted."""


class Sender:
    """Sends the messages of one sink.

    Args:
        sent: what is known of earlier attempts.
        patience: how long a message is tried.
    """

    def __init__(
        self, endpoint: Endpoint, sent: SentMessages, patience: Patience | None = None
    ) -> None:
        self._to, self._sent, self._patience = endpoint, sent, patience or Patience()
        self._stopping, self._deadline = threading.Event(), 0.0

    def stop(self) -> None:
        """Let a delivery that is under way end soon."""
        self._deadline = time.monotonic() + _GRACE
        self._stopping.set()

    def check_pause(self) -> None:
        """Make sure that the server has not asked for a pause that still lasts.

        Raises:
            ServiceError: ``WEBHOOK_UNAVAILABLE``.
        """
        left = self._sent.not_before - time.monotonic()
        if left > self._patience.whole:
            raise self._unavailable(f"it asks to wait {left:.0f} seconds more")

    def send(self, messages: Iterable[Message], delivery: str, each: Callable[[], None]) -> None:
        """Send messages in their order; all are accepted when this returns.

        Args:
            messages: the messages of a delivery.
            delivery: identifies it.
            each: called before each message.

        Raises:
            ServiceError: ``WEBHOOK_UNAVAILABLE``, ``WEBHOOK_REFUSED``.
            TerminalError: ``MESSAGE_REFUSED``, ``WEBHOOK_GONE``.
            SendingStopped: :meth:`stop` was called.
        """
        self._sent.begin(delivery)
        with self._session() as session:
            for message in messages:
                if message.id not in self._sent.accepted:
                    each()
                    self._send(session, message)
                    self._sent.accepted.add(message.id)

    def _session(self) -> requests.Session:
        session = requests.Session()
        session.auth = lambda request: request  # else ~/.netrc would replace a header
        session.trust_env = self._to.proxies
        session.headers.update(self._to.headers)
        return session

    def _send(self, session: requests.Session, message: Message) -> None:
        trying = Retrying(
            retry=retry_if_exception_type(_TryAgain),
            wait=self._pause,
            stop=stop_before_delay(self._patience.whole),
            sleep=self._wait,
            reraise=True,
        )
        try:
            trying(self._try, session, message)
        except _TryAgain as last:
            self._sent.not_before = time.monotonic() + last.after
            raise self._unavailable(str(last)) from last.__cause__

    def _pause(self, state: RetryCallState) -> float:
        """Seconds before the next attempt."""
        failure = state.outcome.exception() if state.outcome else None
        after = failure.after if isinstance(failure, _TryAgain) else 0.0
        grown = self._patience.first * 2.0 ** min(state.attempt_number - 1, 30)
        return max(after, min(grown, self._patience.longest) * random.uniform(0.5, 1))

    def _wait(self, seconds: float) -> None:
        """Wait; a stop leaves no more time than the grace."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 or self._stopping.is_set():
            if self._stopping.is_set():
                if time.monotonic() + max(left, 0) >= self._deadline:
                    raise SendingStopped
                time.sleep(max(left, 0))
                return
            self._stopping.wait(left)

    def _try(self, session: requests.Session, message: Message) -> None:
        """Send one request."""
        self._wait(max(self._sent.not_before, self._sent.next_at) - time.monotonic())
        self._sent.next_at = time.monotonic() + self._to.every
        headers = signed_headers(self._to.key, message.id, int(time.time()), message.body)
        try:
            with session.post(
                self._to.url,
                data=message.body,
                headers=headers,
                timeout=self._to.timeout,
                verify=self._to.verify,  # of the session, REQUESTS_CA_BUNDLE would win over it
                allow_redirects=False,
                stream=True,
            ) as answer:
                self._judge(answer)
        except requests.RequestException as error:
            raise _TryAgain(_reason(error)) from error

    def _judge(self, answer: requests.Response) -> None:
        """Return if a message was accepted; whatever the server says besides does not matter."""
        status, text = answer.status_code, _text(answer)
        if 200 <= status < 300:
            return
        said = f"{status} {answer.reason or ''}".strip() + (f": {text}" if text else "")
        if status in _AGAIN or status >= 500:
            raise _TryAgain(f"it answers {said}", _retry_after(answer.headers.get("Retry-After")))
        if 300 <= status < 400:
            what = f"redirects, which is not followed: {said}"
            raise self._sink_error("WEBHOOK_REFUSED", what, "correct url")
        if status in _OF_ADDRESS:
            what, hint = f"refuses the request: {said}", "check url, headers and secrets"
            raise self._sink_error("WEBHOOK_REFUSED", what, hint)
        if status == _GONE:
            hint = "correct url, then: headwater run"
            raise self._sink_error("WEBHOOK_GONE", f"is gone: {said}", hint, TerminalError)
        if not self._to.skips:
            hint = "correct the view or the server, then: headwater run; or add on_error = 'skip'"
            what = f"refuses a message: {said}"
            raise self._sink_error("MESSAGE_REFUSED", what, hint, TerminalError)
        to = self._to
        log.warning('sink "%s" skips a message that %s refuses: %s', to.sink, to.shown, said)

    def _unavailable(self, reason: str) -> ServiceError:
        what, hint = (
            f"takes no messages: {reason}",
            "check that the server runs, and the option url",
        )
        return self._sink_error("WEBHOOK_UNAVAILABLE", what, hint)

    def _sink_error(
        self, condition: str, what: str, hint: str, kind: type[ServiceError] = ServiceError
    ) -> ServiceError:
        message = f'{self._to.shown} of sink "{self._to.sink}" {what}'
        return kind(condition, message, hint=hint, span=self._to.span)


def _text(answer: requests.Response) -> str:
    """The beginning of what a server says; nothing if the connection breaks.

    What is read to its end leaves the connection for the next message.
    """
    try:
        data = next(answer.iter_content(4 * _SHOWN), b"")
    except (requests.RequestException, OSError):
        return ""
    return " ".join(data.decode("utf-8", "replace").split())[:_SHOWN]


def _reason(error: requests.RequestException) -> str:
    """Why there is no answer, in words of ours: those of the library name the whole address."""
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy of the environment does not let it through"
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not accepted, or it does not speak TLS"
    if isinstance(error, requests.Timeout):
        return "it does not answer in time"
    if "Name" in str(error) and "resol" in str(error):
        return "its host name cannot be resolved"
    if "refused" in str(error):
        return "the connection is refused"
    return "the connection was closed before an answer"


def _retry_after(text: str | None) -> float:
    """Seconds to wait, of ``Retry-After``: a number or a date."""
    if not text:
        return 0.0
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return 0.0
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER)
