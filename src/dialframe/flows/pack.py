"""The evidence pack: what an audit found, as files whose every byte is accounted for; grades nothing.

`manifest.json` names each file with its rows, size and SHA-256, and chains them: each link is the
hash of the link before it, the file's name and the file's hash, so that no file can be changed,
added or taken away without the last link, the *head*, changing. The manifest is written in one
canonical form and seals itself, so a changed byte in it is found as well. With a key of the
officer's the head is signed (HMAC-SHA256) in `manifest.sig`.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

import dialframe
from dialframe.compliance import Audit
from dialframe.errors import ConfigError
from dialframe.flows.files import folder as make_folder
from dialframe.flows.files import write_bytes
from dialframe.privacy import PHONE, mask_phone

MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.sig"
FORMAT: Final = 1

_START: Final = "0" * 64
_INSTANTS: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
_ZIP_DATE: Final = (1980, 1, 1, 0, 0, 0)
_LEAST_KEY_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of a pack found.

    Attributes:
        path: The pack.
        faults: Everything that is wrong, one sentence each; none: every byte is as it was written.
        files: Number of files that the manifest names.
        head: Last link of the chain.
        signed: `yes`, `no`, or `not checked` where there is a signature and no key was given.
    """

    path: Path
    faults: tuple[str, ...]
    files: int
    head: str
    signed: str

    @property
    def whole(self) -> bool:
        """Whether nothing was found."""
        return not self.faults


def write(
    result: Audit,
    folder: Path,
    *,
    summary: Mapping[str, object],
    further: Mapping[str, bytes] | None = None,
    key: bytes | None = None,
    pseudonyms: bytes | None = None,
    zipped: bool = False,
) -> dict[str, Path]:
    """Write the pack of an audit, readable by the owner alone.

    Args:
        result: The audit.
        folder: Where; made where it is missing. A file of an earlier pack that this one does not
            write is taken away, anything else stands in the way.
        summary: The audit in plain values.
        further: Name to content of further files, such as the report.
        key: The officer's key; signs the head of the chain.
        pseudonyms: Key with which every number is replaced by a pseudonym, the same for the same
            number and key; None writes numbers whole.
        zipped: Also write the pack as one file beside the folder.

    Returns:
        Name to path, without the ending; `zip` where one was written.

    Raises:
        ConfigError: A key is too short, or the folder holds files that are no pack.
        OSError: The disk is full or the folder cannot be written.
    """
    for secret in (key, pseudonyms):
        if secret is not None and len(secret) < _LEAST_KEY_BYTES:
            raise ConfigError(f"a key has at least {_LEAST_KEY_BYTES} bytes; make a longer one")
    hide = _pseudonymiser(pseudonyms)
    contents = {name: _csv(frame, hide) for name, frame in tables(result).items()}
    rows = {name: len(frame) for name, frame in tables(result).items()}
    told = json.dumps(summary, indent=2, ensure_ascii=False, default=str) + "\n"
    contents["summary.json"] = hide(told).encode()
    contents |= dict(further or {})
    facts = {
        "as_of": result.as_of.isoformat(),
        "since": None if result.since is None else result.since.isoformat(),
        "until": None if result.until is None else result.until.isoformat(),
        "rulebook_version": result.rulebook_version,
        "rulebook_sha256": result.rulebook_sha256,
        "taxonomy": result.taxonomy,
        "data": result.data_version,
        "tool": f"dialframe {dialframe.__version__}",
        "numbers": "whole" if pseudonyms is None else "pseudonyms",
        "notice": "Facts for review, not legal advice.",
    }
    manifest = _manifest(contents, rows, facts)
    contents[MANIFEST] = manifest
    if key is not None:
        contents[SIGNATURE] = _signature(_head(manifest), key)
    _clear(make_folder(folder), contents)
    written = {
        _known_as(name): write_bytes(content, folder / name)
        for name, content in sorted(contents.items())
    }
    if zipped:
        written["zip"] = write_bytes(_zip(contents), folder.with_name(folder.name + ".zip"))
    return written


def tables(result: Audit) -> dict[str, pd.DataFrame]:
    """Every table of a pack by the name of its file."""
    names = {
        "findings.csv": result.findings,
        "flags.csv": flags(result),
        "calling_hours.csv": result.hours,
        "dnc_checks.csv": result.coverage.calls,
        "coverage.csv": result.coverage.numbers,
        "listed_calls.csv": result.listed,
        "counts.csv": result.checks,
    }
    parts = {
        "attempts": "attempts.csv",
        "requests": "internal_dnc.csv",
        "abandonment": "abandonment.csv",
        "consent": "consent.csv",
        "records": "records.csv",
        "retention": "retention.csv",
        "emergencies": "emergencies.csv",
        "advisory": "advisory.csv",
        "advisory_checks": "advisory_checks.csv",
        "rules": "rules.csv",
        "coverage_by": "coverage_by.csv",
        "next_checks": "next_checks.csv",
    }
    return names | {
        file: result.parts[name] for name, file in parts.items() if name in result.parts
    }


def flags(result: Audit) -> pd.DataFrame:
    """Findings with the inputs that they rest on: zones, local times, records, citation, book."""
    zones = result.hours[["call_id", "zones", "zone_source", "zone_confidence"]]
    zones = zones[zones["call_id"].notna()].drop_duplicates("call_id")
    rows = result.findings.merge(zones, on="call_id", how="left")
    return rows.assign(
        rulebook_version=result.rulebook_version, rulebook_sha256=result.rulebook_sha256
    )


def verify(path: Path, *, key: bytes | None = None) -> Verified:
    """Hold every byte of a pack against its manifest.

    Args:
        path: A pack, as folder or as zip file.
        key: The officer's key; without it a signature is not checked.

    Raises:
        ConfigError: There is no pack at the path.
    """
    found, faults = _read(path)
    raw = found.get(MANIFEST)
    if raw is None:
        return Verified(path, (*faults, f"{MANIFEST} is missing"), 0, "", "no")
    manifest = _parsed(raw)
    if manifest is None:
        return Verified(path, (*faults, f"{MANIFEST} was changed"), 0, "", "no")
    named = {str(each["name"]): each for each in manifest["files"]}
    faults += [f"{name} is missing" for name in named if name not in found]
    for name in sorted(set(found) - {MANIFEST, SIGNATURE}):
        if name not in named:
            faults.append(f"{name} was added")
        elif hashlib.sha256(found[name]).hexdigest() != named[name]["sha256"]:
            faults.append(f"{name} was changed")
    head = _head(raw)
    signed = _signed(found.get(SIGNATURE), head, key, faults)
    return Verified(path, tuple(faults), len(named), head, signed)


def read_key(path: Path) -> bytes:
    """A key from a file, without the line's end.

    Raises:
        ConfigError: It is too short.
    """
    key = path.read_bytes().strip()
    if len(key) < _LEAST_KEY_BYTES:
        raise ConfigError(
            f"{path}: a key has at least {_LEAST_KEY_BYTES} bytes; make a longer one"
        )
    return key


def manifest_of(path: Path) -> dict[str, object]:
    """The manifest of a pack.

    Raises:
        ConfigError: There is none, or it was changed.
    """
    raw = _read(path)[0].get(MANIFEST)
    manifest = None if raw is None else _parsed(raw)
    if manifest is None:
        raise ConfigError(f"{path}: there is no manifest that is as it was written")
    return dict(manifest)


def findings_of(path: Path) -> pd.DataFrame:
    """The findings of a pack, as text.

    Raises:
        ConfigError: The pack has none.
    """
    raw = _read(path)[0].get("findings.csv")
    if raw is None:
        raise ConfigError(f"{path}: the pack has no findings.csv")
    return pd.read_csv(io.BytesIO(raw), dtype="str", keep_default_na=True)


def _manifest(
    contents: Mapping[str, bytes], rows: Mapping[str, int], facts: Mapping[str, object]
) -> bytes:
    link, files = _START, []
    for name in sorted(contents):
        digest = hashlib.sha256(contents[name]).hexdigest()
        link = hashlib.sha256(f"{link}\n{name}\n{digest}".encode()).hexdigest()
        files.append(
            {
                "name": name, "rows": rows.get(name), "bytes": len(contents[name]),
                "sha256": digest, "link": link,
            }
        )  # fmt: skip
    return _sealed({"format": FORMAT, "facts": dict(facts), "files": files, "head": link})


def _sealed(body: Mapping[str, object]) -> bytes:
    """The manifest's one form, with the hash of everything else in it."""
    whole = _canonical(body)
    return _canonical({**body, "seal": hashlib.sha256(whole).hexdigest()})


def _canonical(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _parsed(raw: bytes) -> dict[str, list[dict[str, object]]] | None:
    """A manifest that is byte for byte as it was written, else None."""
    try:
        manifest = json.loads(raw)
        body = {name: value for name, value in manifest.items() if name != "seal"}
        link = _START
        for each in body["files"]:
            text = f"{link}\n{each['name']}\n{each['sha256']}"
            link = hashlib.sha256(text.encode()).hexdigest()
            if link != each["link"]:
                return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    same = link == body["head"] and _sealed(body) == raw
    return manifest if same else None


def _head(manifest: bytes) -> str:
    """What is signed: the hash of the whole manifest, which holds the chain's last link."""
    return hashlib.sha256(manifest).hexdigest()


def _signature(head: str, key: bytes) -> bytes:
    value = hmac.new(key, head.encode(), hashlib.sha256).hexdigest()
    line = f"hmac-sha256 {value}"
    return f"{line} {hashlib.sha256(line.encode()).hexdigest()}\n".encode()


def _signed(raw: bytes | None, head: str, key: bytes | None, faults: list[str]) -> str:
    """Whether the signature holds; what is wrong with it is added to the faults."""
    if raw is None:
        if key is not None:
            faults.append("there is no signature")
        return "no"
    line, _, rest = raw.decode(errors="replace").rpartition(" ")
    if rest != hashlib.sha256(line.encode()).hexdigest() + "\n":
        faults.append(f"{SIGNATURE} was changed")
        return "no"
    if key is None:
        return "not checked"
    if not hmac.compare_digest(_signature(head, key), raw):
        faults.append("the signature is not of this key, or of another pack")
        return "no"
    return "yes"


def _read(path: Path) -> tuple[dict[str, bytes], list[str]]:
    """Contents of a pack by name, and what is wrong with its container."""
    if path.is_dir():
        return {
            str(file.relative_to(path)): file.read_bytes()
            for file in sorted(path.rglob("*"))
            if file.is_file()
        }, []
    if not path.is_file():
        raise ConfigError(f"{path}: there is no pack; name its folder or its zip file")
    raw = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            found = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OSError, RuntimeError):
        return {}, ["the zip file was changed and cannot be read"]
    return found, [] if _zip(found) == raw else ["the zip file was changed"]


def _zip(contents: Mapping[str, bytes]) -> bytes:
    """The same contents give the same bytes: sorted, dated 1980, without compression."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, _ZIP_DATE)
            entry.external_attr = 0o600 << 16
            archive.writestr(entry, contents[name])
    return buffer.getvalue()


def _known_as(name: str) -> str:
    """What a file is called among those that were written."""
    if name == SIGNATURE:
        return "signature"
    path = Path(name)
    return f"{path.stem}_pdf" if path.suffix == ".pdf" else path.stem


def _clear(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Take away what an earlier pack left and this one does not write."""
    standing = {file.name: file for file in folder.iterdir()}
    if standing and MANIFEST not in standing and not set(standing) <= set(contents):
        raise ConfigError(
            f"{folder}: there are files that belong to no pack; choose an empty folder"
        )
    earlier = set()
    if MANIFEST in standing:
        manifest = _parsed(standing[MANIFEST].read_bytes())
        earlier = {SIGNATURE} | {str(f["name"]) for f in (manifest or {"files": []})["files"]}
    for name, file in standing.items():
        if name in earlier and name not in contents:
            file.unlink()
        elif name not in contents and name not in earlier:
            raise ConfigError(f"{file}: this file belongs to no pack; choose an empty folder")


def _csv(frame: pd.DataFrame, hide: Callable[[str], str]) -> bytes:
    return hide(frame.to_csv(index=False, date_format=_INSTANTS, lineterminator="\n")).encode()


def _pseudonymiser(key: bytes | None) -> Callable[[str], str]:
    if key is None:
        return lambda text: text
    known: dict[str, str] = {}

    def hide(text: str) -> str:
        def one(match: object) -> str:
            phone = match.group()  # type: ignore[attr-defined]
            if phone not in known:
                digest = hmac.new(key, phone.encode(), hashlib.sha256).hexdigest()
                known[phone] = f"number-{digest[:16]}"
            return known[phone]

        return PHONE.sub(one, text)

    return hide


def masked(text: str) -> str:
    """Text with every number masked, for a report."""
    return PHONE.sub(lambda match: mask_phone(match.group()), text)
