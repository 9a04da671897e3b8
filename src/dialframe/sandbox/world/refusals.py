"""Refusals and their problem documents (contract, Errors)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dialframe.contract.error_codes import BY_CODE

MEDIA_TYPE: Final = "application/problem+json"

#: Statuses that carry `Retry-After`; a refusal that names no time gets one second.
RETRY_STATUSES: Final = (429, 503)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that is wrong: JSON pointer and code."""

    pointer: str
    code: str


class Refusal(Exception):
    """The request is answered with a problem document.

    Attributes:
        code: The problem's code.
        status: HTTP status; without one, the first that the contract gives the code.
        detail: One sentence for people.
        errors: Fields that are wrong.
        retry_after_s: Seconds for `Retry-After`.
        headers: Further headers of the answer.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        status: int | None = None,
        errors: tuple[FieldError, ...] = (),
        retry_after_s: int | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(code)
        self.code = code
        self.status = status if status is not None else BY_CODE[code].statuses[0]
        self.detail = detail or f"{_condition(code)}."
        self.errors = errors
        self.headers = headers
        if retry_after_s is None and (self.status in RETRY_STATUSES or code == "conflict"):
            retry_after_s = 1
        self.retry_after_s = retry_after_s


def invalid(pointer: str, code: str, detail: str = "") -> Refusal:
    """`validation_failed` for one field."""
    text = detail or f"The request is not valid at {pointer or 'its root'}: {code}."
    return Refusal("validation_failed", text, errors=(FieldError(pointer, code),))


def document(refusal: Refusal, *, request_id: str, docs_base: str) -> dict[str, Any]:
    """The problem document of a refusal (RFC 9457 with the contract's fields)."""
    body: dict[str, Any] = {
        "type": f"{docs_base}/errors/{problem_slug(refusal.code)}",
        "title": _condition(refusal.code),
        "status": refusal.status,
        "detail": refusal.detail,
        "instance": f"urn:service:request:{request_id}",
        "code": refusal.code,
        "request_id": request_id,
    }
    if refusal.errors:
        body["errors"] = [
            {"pointer": error.pointer, "code": error.code} for error in refusal.errors
        ]
    return body


def problem_slug(code: str) -> str:
    """A code as the last part of its problem type."""
    return code.replace("_", "-")


def headers_of(refusal: Refusal) -> tuple[tuple[str, str], ...]:
    """Headers that go with a refusal's document."""
    if refusal.retry_after_s is None:
        return refusal.headers
    return (*refusal.headers, ("Retry-After", str(refusal.retry_after_s)))


def _condition(code: str) -> str:
    text = BY_CODE[code].condition if code in BY_CODE else code.replace("_", " ")
    return text[0].upper() + text[1:]
