"""US area codes with their state and time zones, as a finished table; knows no calls and no people.

The table was computed once from the data of the `phonenumbers` package (9.0.43): for each
geographic US area code, the zones that it answers over all 800 exchanges, and the state that its
geocoder names most often. `tests/sandbox/test_seed_places.py` holds the table to the installed
package.

An area code is in `ONE_ZONE` only where every exchange has one and the same zone, so that an hour
there is not open to argument. Codes with more than one zone are in `SEVERAL_ZONES`. Left out of
both: the overlays that the package knows less well than the code they overlie (364, 448, 458,
689, 729, 930, 983), because a careful reader would doubt their zone.
"""

from __future__ import annotations

from dataclasses import dataclass

_ONE_ZONE: tuple[tuple[str, str, str], ...] = (
    ("America/Chicago", "AL", "205 251 256 334 659 938"),
    ("America/Chicago", "AR", "327 479 501 870"),
    ("America/Chicago", "IA", "319 515 563 641 712"),
    (
        "America/Chicago",
        "IL",
        "217 224 309 312 331 447 464 618 630 708 730 773 779 815 847 872",
    ),
    ("America/Chicago", "KS", "316 913"),
    ("America/Chicago", "LA", "225 318 337 504 985"),
    ("America/Chicago", "MN", "218 320 507 612 651 763 952"),
    ("America/Chicago", "MO", "235 314 417 557 573 636 660 816 975"),
    ("America/Chicago", "MS", "228 601 662 769"),
    ("America/Chicago", "NE", "402 531"),
    ("America/Chicago", "OK", "405 539 572 580 918"),
    ("America/Chicago", "TN", "615 629 731 901 931"),
    (
        "America/Chicago",
        "TX",
        "210 214 254 281 325 346 361 409 430 432 469 512 682 713 726 737 806 817 830 832 903 936 "
        "940 945 956 972 979",
    ),
    ("America/Chicago", "WI", "262 274 353 414 534 608 715 920"),
    ("America/Denver", "CO", "303 719 720 748 970"),
    ("America/Denver", "MT", "406"),
    ("America/Denver", "NM", "505 575"),
    ("America/Denver", "TX", "915"),
    ("America/Denver", "UT", "385 435 801"),
    ("America/Denver", "WY", "307"),
    (
        "America/Los_Angeles",
        "CA",
        "209 213 279 310 323 341 350 369 408 415 424 442 510 530 559 562 619 626 628 650 657 661 "
        "669 707 714 738 747 760 805 818 820 831 840 858 909 916 925 949 951",
    ),
    ("America/Los_Angeles", "NV", "702 725"),
    ("America/Los_Angeles", "OR", "503 971"),
    ("America/Los_Angeles", "WA", "206 253 360 425 509 564"),
    ("America/New_York", "CT", "203 475 860 959"),
    ("America/New_York", "DC", "202 771"),
    ("America/New_York", "DE", "302"),
    (
        "America/New_York",
        "FL",
        "239 305 321 324 352 386 407 561 645 656 727 728 754 772 786 813 863 904 941 954",
    ),
    ("America/New_York", "GA", "229 404 470 478 678 706 762 770 912 943"),
    ("America/New_York", "IN", "260 317 463 765"),
    ("America/New_York", "KY", "502 859"),
    ("America/New_York", "MA", "339 351 413 508 617 774 781 857 978"),
    ("America/New_York", "MD", "227 240 301 410 443 667"),
    ("America/New_York", "ME", "207"),
    ("America/New_York", "MI", "231 248 269 313 517 586 616 734 810 947 989"),
    ("America/New_York", "NC", "252 336 472 704 743 828 910 919 980 984"),
    ("America/New_York", "NH", "603"),
    ("America/New_York", "NJ", "201 551 609 640 732 848 856 862 908 973"),
    (
        "America/New_York",
        "NY",
        "212 315 329 332 347 363 516 518 585 607 631 646 680 716 718 838 845 914 917 929 934",
    ),
    ("America/New_York", "OH", "216 220 234 283 326 330 380 419 440 513 567 614 740 937"),
    ("America/New_York", "PA", "215 223 267 272 412 445 484 570 582 610 717 724 814 835 878"),
    ("America/New_York", "RI", "401"),
    ("America/New_York", "SC", "803 821 839 843 854 864"),
    ("America/New_York", "TN", "865"),
    ("America/New_York", "VA", "276 434 540 571 686 703 757 804 826 948"),
    ("America/New_York", "VT", "802"),
    ("America/New_York", "WV", "304 681"),
    ("America/Phoenix", "AZ", "480 520 602 623"),
    ("Pacific/Honolulu", "HI", "808"),
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@dataclass(frozen=True, slots=True)
class Place:
    """One area code: three digits, two-letter state, IANA zones in alphabetical order."""

    code: str
    state: str
    zones: tuple[str, ...]


ONE_ZONE: tuple[Place, ...] = tuple(
    sorted(
        (
            Place(code, state, (zone,))
            for zone, state, codes in _ONE_ZONE
            for code in codes.split()
        ),
        key=lambda place: place.code,
    )
)

SEVERAL_ZONES: tuple[Place, ...] = (
    Place("208", "ID", ("America/Boise", "America/Denver", "America/Los_Angeles")),
    Place("219", "IN", ("America/Chicago", "America/New_York")),
    Place("270", "KY", ("America/Chicago", "America/New_York")),
    Place("308", "NE", ("America/Chicago", "America/Denver")),
    Place("423", "TN", ("America/Chicago", "America/New_York")),
    Place("541", "OR", ("America/Denver", "America/Los_Angeles")),
    Place("574", "IN", ("America/Chicago", "America/New_York")),
    Place("605", "SD", ("America/Chicago", "America/Denver", "America/North_Dakota/Center")),
    Place("606", "KY", ("America/Chicago", "America/New_York")),
    Place("620", "KS", ("America/Chicago", "America/Denver")),
    Place("701", "ND", ("America/Chicago", "America/Denver", "America/North_Dakota/Center")),
    Place("775", "NV", ("America/Boise", "America/Denver", "America/Los_Angeles")),
    Place("785", "KS", ("America/Chicago", "America/Denver")),
    Place("812", "IN", ("America/Chicago", "America/New_York")),
    Place("850", "FL", ("America/Chicago", "America/New_York")),
    Place("906", "MI", ("America/Chicago", "America/New_York")),
    Place(
        "907",
        "AK",
        ("America/Adak", "America/Anchorage", "America/Juneau", "Pacific/Honolulu"),
    ),
    Place("928", "AZ", ("America/Denver", "America/Phoenix")),
    Place("986", "ID", ("America/Boise", "America/Los_Angeles")),
)

STRADDLING: tuple[str, ...] = ("850", "605", "208", "270")
"""Area codes of `SEVERAL_ZONES` whose outermost zones are an hour apart all the year round."""

LOCAL_CODES: tuple[str, ...] = _words(
    "212 312 713 206 404 305 602 617 214 818 215 303 313 503 612 702 704 801 808 916"
)
"""Area codes of `ONE_ZONE` in which the account owns a caller ID, most used first."""

REGISTRY_BLOCKS: tuple[str, ...] = tuple(
    f"+1{code}55501{line}"
    for code in ["212", "312", "713", "206", "617", "404", "305", "602", "503", "303"]
    for line in range(90, 100)
)
"""A hundred numbers that are on every generated Do-Not-Call list and belong to no lead.

`+1 <area> 555 0190` to `0199` of ten area codes, so that an import can be made to meet a listed
number on purpose.
"""
