"""How dialers and networks spell outcomes, from code to class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Field = Literal["status", "hangup_cause", "disposition"]
Preset = Literal["vicidial", "freeswitch", "asterisk", "generic-en"]

FIELDS: Final[tuple[Field, ...]] = ("status", "hangup_cause", "disposition")
PRESETS: Final[tuple[Preset, ...]] = ("vicidial", "freeswitch", "asterisk", "generic-en")


@dataclass(frozen=True, slots=True)
class Spelling:
    """Codes of one field that mean one outcome class, in one preset."""

    preset: Preset
    field: Field
    outcome: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cause:
    """One Q.850 cause: number, outcome class, FreeSWITCH's names and Asterisk's names."""

    number: int
    outcome: str
    freeswitch: tuple[str, ...] = ()
    asterisk: tuple[str, ...] = ()


def _spelling(preset: Preset, field: Field, outcome: str, codes: str) -> Spelling:
    return Spelling(preset, field, outcome, tuple(codes.split("|")))


def _cause(number: int, outcome: str, freeswitch: str = "", asterisk: str | None = None) -> Cause:
    """A cause; Asterisk uses FreeSWITCH's name unless it is given its own."""
    names = tuple(filter(None, freeswitch.split("|")))
    return Cause(number, outcome, names, names if asterisk is None else tuple(asterisk.split("|")))


#: ITU-T Q.850 causes. 16 and 31 say only that the call ended in the normal way.
CAUSES: Final[tuple[Cause, ...]] = (
    _cause(1, "disconnected", "UNALLOCATED_NUMBER", "UNALLOCATED"),
    _cause(2, "network_fail", "NO_ROUTE_TRANSIT_NET"),
    _cause(3, "network_fail", "NO_ROUTE_DESTINATION"),
    _cause(4, "disconnected", "SEND_SPECIAL_TONE", "SEND_SPECIAL_TONE"),
    _cause(5, "disconnected", "MISDIALLED_TRUNK_PREFIX", "MISDIALLED_TRUNK_PREFIX"),
    _cause(6, "network_fail", "CHANNEL_UNACCEPTABLE"),
    _cause(16, "connected_unknown", "NORMAL_CLEARING", "NORMAL_CLEARING|NORMAL"),
    _cause(17, "busy", "USER_BUSY", "USER_BUSY|BUSY"),
    _cause(18, "no_answer", "NO_USER_RESPONSE"),
    _cause(19, "no_answer", "NO_ANSWER", "NO_ANSWER|NOANSWER"),
    _cause(20, "temp_unavailable", "SUBSCRIBER_ABSENT", "SUBSCRIBER_ABSENT|NOTREGISTERED"),
    _cause(21, "blocked_or_rejected", "CALL_REJECTED"),
    _cause(22, "disconnected", "NUMBER_CHANGED"),
    _cause(25, "network_fail", "EXCHANGE_ROUTING_ERROR"),
    _cause(27, "temp_unavailable", "DESTINATION_OUT_OF_ORDER"),
    _cause(28, "disconnected", "INVALID_NUMBER_FORMAT"),
    _cause(29, "network_fail", "FACILITY_REJECTED"),
    _cause(31, "connected_unknown", "NORMAL_UNSPECIFIED"),
    _cause(
        34,
        "network_fail",
        "NORMAL_CIRCUIT_CONGESTION",
        "NORMAL_CIRCUIT_CONGESTION|CONGESTION",
    ),
    _cause(38, "network_fail", "NETWORK_OUT_OF_ORDER"),
    _cause(41, "network_fail", "NORMAL_TEMPORARY_FAILURE"),
    _cause(42, "network_fail", "SWITCH_CONGESTION"),
    _cause(43, "network_fail", "ACCESS_INFO_DISCARDED"),
    _cause(44, "network_fail", "REQUESTED_CHAN_UNAVAIL"),
    _cause(47, "network_fail", "RESOURCE_UNAVAILABLE"),
    _cause(50, "network_fail", "FACILITY_NOT_SUBSCRIBED"),
    _cause(52, "blocked_or_rejected", "OUTGOING_CALL_BARRED"),
    _cause(54, "blocked_or_rejected", "INCOMING_CALL_BARRED"),
    _cause(57, "network_fail", "BEARERCAPABILITY_NOTAUTH"),
    _cause(58, "network_fail", "BEARERCAPABILITY_NOTAVAIL"),
    _cause(63, "network_fail", "SERVICE_UNAVAILABLE"),
    _cause(65, "network_fail", "BEARERCAPABILITY_NOTIMPL"),
    _cause(66, "network_fail", "CHAN_NOT_IMPLEMENTED"),
    _cause(69, "network_fail", "FACILITY_NOT_IMPLEMENTED"),
    _cause(79, "network_fail", "SERVICE_NOT_IMPLEMENTED"),
    _cause(81, "network_fail", "INVALID_CALL_REFERENCE"),
    _cause(88, "network_fail", "INCOMPATIBLE_DESTINATION"),
    _cause(95, "network_fail", "INVALID_MSG_UNSPECIFIED"),
    _cause(96, "network_fail", "MANDATORY_IE_MISSING"),
    _cause(97, "network_fail", "MESSAGE_TYPE_NONEXIST"),
    _cause(98, "network_fail", "WRONG_MESSAGE"),
    _cause(99, "network_fail", "IE_NONEXIST"),
    _cause(100, "network_fail", "INVALID_IE_CONTENTS"),
    _cause(101, "network_fail", "WRONG_CALL_STATE"),
    _cause(102, "network_fail", "RECOVERY_ON_TIMER_EXPIRE"),
    _cause(103, "network_fail", "MANDATORY_IE_LENGTH_ERROR"),
    _cause(111, "network_fail", "PROTOCOL_ERROR"),
    _cause(127, "network_fail", "INTERWORKING"),
)

#: Final SIP answers. Any other 5xx is a failure of the network: see `SIP_5XX`.
SIP: Final[dict[int, str]] = {
    **dict.fromkeys((408, 480, 487), "no_answer"),
    **dict.fromkeys((486, 600), "busy"),
    **dict.fromkeys((404, 410, 484, 485, 604), "disconnected"),
    503: "temp_unavailable",
    **dict.fromkeys((401, 402, 403, 407, 603, 607, 608), "blocked_or_rejected"),
    **dict.fromkeys((428, 429, 436, 437, 438), "blocked_or_rejected"),
    **dict.fromkeys((400, 405, 406, 413, 414, 415, 416, 420, 421, 423), "network_fail"),
    **dict.fromkeys((481, 482, 483, 488, 606), "network_fail"),
    200: "connected_unknown",
}
SIP_5XX: Final = "network_fail"

#: Words, by preset and field. Case, blanks, dashes and underscores do not matter.
SPELLINGS: Final[tuple[Spelling, ...]] = (
    # VICIdial's system statuses, as dispositions.
    _spelling("vicidial", "disposition", "no_answer", "NA|N|RNA"),
    _spelling("vicidial", "disposition", "busy", "B|AB"),
    _spelling("vicidial", "disposition", "machine", "A|AA|AM|AL|VM|PM"),
    _spelling("vicidial", "disposition", "fax", "AFAX"),
    _spelling("vicidial", "disposition", "disconnected", "DC|ADC|NIS|SIT"),
    _spelling("vicidial", "disposition", "temp_unavailable", "ADCT|CGT"),
    _spelling("vicidial", "disposition", "network_fail", "CG|LRERR"),
    _spelling("vicidial", "disposition", "connected_unknown", "PU|ERI"),
    _spelling("vicidial", "disposition", "early_hangup", "HUP"),
    _spelling("vicidial", "disposition", "dead_air", "DAIR|ADAIR"),
    _spelling(
        "vicidial",
        "disposition",
        "dropped_by_us",
        "DROP|XDROP|PDROP|IVRXFR|TIMEOT|AFTHRS|NANQUE|MAXCAL",
    ),
    _spelling("vicidial", "disposition", "gatekeeper_third_party", "GATE|3P|TP"),
    _spelling("vicidial", "disposition", "wrong_number", "WN"),
    _spelling("vicidial", "disposition", "right_party_neutral", "NP|XFER|LB|NQ|INFO"),
    _spelling("vicidial", "disposition", "not_interested", "NI|DEC"),
    _spelling("vicidial", "disposition", "callback", "CALLBK|CBHOLD|CB|QCFAIL"),
    # A promise to pay is not yet a payment.
    _spelling("vicidial", "disposition", "positive", "INT|PTP"),
    _spelling("vicidial", "disposition", "appointment", "APPT"),
    _spelling("vicidial", "disposition", "conversion", "SALE|SOLD"),
    # QDNC is the choice of a menu by the person called: a wish, not a screen.
    _spelling("vicidial", "disposition", "dnc_request", "DNC|QDNC"),
    _spelling("vicidial", "disposition", "dnc_screened", "DNCL|DNCC"),
    _spelling(
        "vicidial",
        "disposition",
        "system_noise",
        "QUEUE|INCALL|NEW|LSMERG|MLINAT|RQXFER|QVMAIL|SVYEXT|SVYVM|SVYHU|SVYREC|SVYCLM",
    ),
    # FreeSWITCH's causes beyond Q.850.
    _spelling("freeswitch", "hangup_cause", "no_answer", "ORIGINATOR_CANCEL|NO_PICKUP"),
    _spelling("freeswitch", "hangup_cause", "busy", "BUSY_EVERYWHERE"),
    _spelling("freeswitch", "hangup_cause", "disconnected", "DOES_NOT_EXIST_ANYWHERE"),
    _spelling(
        "freeswitch",
        "hangup_cause",
        "blocked_or_rejected",
        "DECLINE|UNWANTED|NO_IDENTITY|BAD_IDENTITY_INFO|UNSUPPORTED_CERTIFICATE|INVALID_IDENTITY",
    ),
    _spelling(
        "freeswitch",
        "hangup_cause",
        "network_fail",
        "PROGRESS_TIMEOUT|INVALID_GATEWAY|GATEWAY_DOWN|INVALID_URL|INVALID_PROFILE"
        "|USER_NOT_REGISTERED|NOT_ACCEPTABLE|CRASH|SYSTEM_SHUTDOWN",
    ),
    _spelling(
        "freeswitch",
        "hangup_cause",
        "connected_unknown",
        "ALLOTTED_TIMEOUT|MEDIA_TIMEOUT|BLIND_TRANSFER|ATTENDED_TRANSFER|SUCCESS",
    ),
    # Asterisk's DIALSTATUS and the disposition of its call records.
    _spelling("asterisk", "status", "connected_unknown", "ANSWER|ANSWERED"),
    _spelling("asterisk", "status", "no_answer", "NOANSWER|CANCEL"),
    _spelling("asterisk", "status", "busy", "BUSY"),
    _spelling("asterisk", "status", "network_fail", "CONGESTION|CHANUNAVAIL|INVALIDARGS"),
    _spelling("asterisk", "status", "blocked_or_rejected", "DONTCALL|TORTURE"),
    _spelling("asterisk", "status", "unanswered_unknown", "FAILED"),
    # English words of many systems.
    _spelling(
        "generic-en",
        "status",
        "connected_unknown",
        "completed|answered|connected|ended|finished|hangup|hung up|bridged",
    ),
    _spelling(
        "generic-en",
        "status",
        "no_answer",
        "no answer|unanswered|not answered|missed|ring no answer|timeout|canceled|cancelled",
    ),
    _spelling("generic-en", "status", "busy", "busy"),
    _spelling("generic-en", "status", "unanswered_unknown", "failed|failure|error|not connected"),
    _spelling("generic-en", "status", "network_fail", "congestion|network error"),
    _spelling("generic-en", "status", "disconnected", "invalid|invalid number"),
    _spelling("generic-en", "status", "blocked_or_rejected", "rejected|declined|blocked"),
    _spelling("generic-en", "status", "machine", "machine|voicemail|answering machine"),
    _spelling("generic-en", "status", "fax", "fax"),
    _spelling("generic-en", "status", "dropped_by_us", "dropped|abandoned"),
    _spelling(
        "generic-en",
        "status",
        "in_progress",
        "dialing|dialling|ringing|queued|initiated|in progress|active|early|on hold",
    ),
    _spelling("generic-en", "hangup_cause", "connected_unknown", "normal|hangup|completed"),
    _spelling("generic-en", "hangup_cause", "no_answer", "unanswered|timeout|canceled|cancelled"),
    _spelling("generic-en", "hangup_cause", "busy", "busy"),
    _spelling("generic-en", "hangup_cause", "disconnected", "invalid number|unallocated"),
    _spelling(
        "generic-en", "hangup_cause", "blocked_or_rejected", "rejected|declined|blocked|unwanted"
    ),
    _spelling("generic-en", "hangup_cause", "network_fail", "congestion"),
    _spelling("generic-en", "hangup_cause", "unanswered_unknown", "failed|failure|error"),
    _spelling(
        "generic-en", "disposition", "no_answer", "no answer|unanswered|no pickup|did not answer"
    ),
    _spelling("generic-en", "disposition", "busy", "busy|line busy|busy signal"),
    _spelling(
        "generic-en",
        "disposition",
        "machine",
        "voicemail|voice mail|answering machine|machine|left message|left voicemail|voicemail left",
    ),
    _spelling("generic-en", "disposition", "fax", "fax|fax machine"),
    _spelling(
        "generic-en",
        "disposition",
        "disconnected",
        "disconnected|disconnected number|not in service|invalid|invalid number|bad number",
    ),
    _spelling("generic-en", "disposition", "temp_unavailable", "temporarily unavailable"),
    _spelling("generic-en", "disposition", "network_fail", "congestion|network failure"),
    _spelling(
        "generic-en",
        "disposition",
        "blocked_or_rejected",
        "blocked|call blocked|call rejected|rejected",
    ),
    _spelling("generic-en", "disposition", "early_hangup", "hung up|hang up|hangup"),
    _spelling("generic-en", "disposition", "dead_air", "dead air|silence"),
    _spelling("generic-en", "disposition", "dropped_by_us", "dropped|drop|abandoned"),
    _spelling(
        "generic-en",
        "disposition",
        "gatekeeper_third_party",
        "gatekeeper|third party|not available|decision maker not available",
    ),
    _spelling("generic-en", "disposition", "wrong_number", "wrong number|wrong|wrong person"),
    _spelling(
        "generic-en",
        "disposition",
        "right_party_neutral",
        "transferred|language barrier|not qualified|unqualified|information given|spoke with lead",
    ),
    _spelling("generic-en", "disposition", "not_interested", "not interested|declined|refused"),
    _spelling(
        "generic-en",
        "disposition",
        "callback",
        "callback|call back later|callback requested|callback scheduled",
    ),
    _spelling("generic-en", "disposition", "positive", "interested|positive|warm lead|hot lead"),
    _spelling(
        "generic-en",
        "disposition",
        "appointment",
        "appointment|appointment set|appointment booked|appointment scheduled|meeting booked",
    ),
    _spelling("generic-en", "disposition", "conversion", "sale|sold|converted|conversion|won"),
    _spelling(
        "generic-en",
        "disposition",
        "dnc_request",
        "dnc|do not call|dnc request|remove|remove from list|stop|stop calling|opt out"
        "|unsubscribe",
    ),
    _spelling("generic-en", "disposition", "dnc_screened", "on dnc|on dnc list|dnc screened"),
)
