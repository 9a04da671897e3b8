"""The evidence pack: what an audit found, and everything that it takes to run it again.

`manifest.json` names each file with its rows, size and SHA-256, and chains them: each link is the
hash of the link before it, the file's name and the file's hash, so that no file can be changed,
added or taken away without the last link changing. The manifest is written in one canonical form
and seals itself. With a key of the officer's (Ed25519) its hash, the *head*, is signed in
`manifest.sig`; without one the pack proves no author, since whoever rewrites all of it can seal it
again. A pack may name the head of the one before it, and whoever signed that one has to sign this.
`manifest.tsq` is a request for a time stamp of the head (RFC 3161); the answer of an authority
belongs beside it as `manifest.tsr`, or beside a zip file under the zip's name.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import pandas as pd

import dialframe
from dialframe.compliance import Audit
from dialframe.compliance import pack as contents
from dialframe.compliance.checks import BY_NAME
from dialframe.compliance.pack import versions
from dialframe.csv_safety import csv_bytes, unescape_frame
from dialframe.errors import ConfigError
from dialframe.files import publish, stage, staged_folder
from dialframe.flows import pack_seal
from dialframe.frames.frame_files import workbook

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

MANIFEST: Final = "manifest.json"
FINDINGS: Final = "findings.csv"
#: The same for people, the gravest first; it has as many rows as somebody scrolls through.
WORKBOOK: Final = "findings.xlsx"
_WORKBOOK_ROWS: Final = 50_000
_CELL_CHARS: Final = 32_000
_GRAVITY: Final = {
    grade: at for at, grade in enumerate(("violation", "uncertain", "not evaluable", "not asked"))
}
SIGNATURE: Final = "manifest.sig"
REQUEST: Final = "manifest.tsq"
TOKEN: Final = "manifest.tsr"  # noqa: S105 - the name of a file
FORMAT: Final = 2

#: What cannot be named in the manifest: itself, and what is made from its hash.
_BESIDE: Final = (MANIFEST, SIGNATURE, REQUEST, TOKEN)
#: What files are called among those that were written; others by their stem.
_CALLED: Final = {
    SIGNATURE: "signature", REQUEST: "time_stamp_request", WORKBOOK: "findings_xlsx",
}  # fmt: skip
_START: Final = "0" * 64
_ZIP_DATE: Final = (1980, 1, 1, 0, 0, 0)
#: Read and written so many bytes at a time: a pack of a large account is gigabytes.
_CHUNK: Final = 2**20
#: A manifest has some 300 bytes a file; 64 MiB are more than 200,000 files.
_MOST_MANIFEST_BYTES: Final = 2**26
#: What reading a mangled pack may raise; each of them is a fault of the pack and none of ours.
_MANGLED: Final = (
    ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, IndexError,
    EOFError, NotImplementedError, zipfile.BadZipFile, RuntimeError, UnicodeError, OSError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of a pack found.

    Attributes:
        path: The pack.
        faults: Everything that is wrong, one sentence each; none: every byte is as it was written.
        files: Number of files that the manifest names.
        head: Hash of the manifest, which is what is signed.
        signed: `yes` by the key that was expected, `by its own key` where none was expected, `no`.
        proves: What is proven, in a sentence.
        public_key: The key that signed, in hexadecimal digits; empty without a signature.
        stamped: What a time stamp says, in a sentence.
        before: Hash of the pack that it follows; empty where it names none.
    """

    path: Path
    faults: tuple[str, ...]
    files: int
    head: str
    signed: str
    proves: str
    public_key: str = ""
    stamped: str = "no time stamp"
    before: str = ""

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
    key: Ed25519PrivateKey | None = None,
    pseudonyms: bytes | None = None,
    zipped: bool = False,
    replace: bool = False,
    after: Path | None = None,
    time_stamp: bool = False,
) -> dict[str, Path]:
    """Write the pack of an audit, readable by the owner alone; whole, or not at all.

    Args:
        result: The audit.
        folder: Where.
        summary: The audit in plain values.
        further: Name to content of further files, such as the report.
        key: The officer's key; signs the pack.
        pseudonyms: Key with which every number is replaced by a pseudonym, the same for the same
            number and key; None writes numbers whole.
        zipped: Also write the pack as one file beside the folder.
        replace: Whether an older pack of that name may be replaced.
        after: The pack before this one, which the manifest names.
        time_stamp: Whether to write a request for a time stamp.

    Returns:
        Name to path, without the ending; `zip` where one was written.

    Raises:
        ConfigError: A key is too short, something stands in the folder's place, or the pack before
            was changed, or was signed and this one is not.
        OSError: The disk is full or the folder cannot be written.
    """
    if pseudonyms is not None and len(pseudonyms) < pack_seal.LEAST_KEY_BYTES:
        raise ConfigError(
            f"a key has at least {pack_seal.LEAST_KEY_BYTES} bytes; make a longer one"
        )
    hide = pack_seal.pseudonymizer(pseudonyms)
    # A chain of packs is worth what its weakest link is: only a whole pack is followed, and signed by signed.
    before: dict[str, str] | None = None
    if after is not None:
        verified = verify(after)
        if not verified.whole:
            raise ConfigError(f"{after}: no pack to follow: {verified.faults[0]}")
        if verified.public_key and key is None:
            raise ConfigError(f"{after} was signed, so that what follows it has to be: give --key")
        before = {"head": verified.head, "public_key": verified.public_key}
    try:
        # In a folder beside it, renamed when the last byte is there.
        with staged_folder(folder, replace=replace) as staging:
            rows = _fill(result, staging, summary, further or {}, hide, pseudonyms)
            manifest = _manifest(
                staging,
                rows,
                _facts(result, key, pseudonyms, before) | {"time_stamp_requested": time_stamp},
            )
            _write_file(staging / MANIFEST, manifest)
            if time_stamp:
                _write_file(staging / REQUEST, pack_seal.time_stamp_request(_head(manifest)))
            if key is not None:
                _write_file(staging / SIGNATURE, pack_seal.signature(_head(manifest), key))
    except FileExistsError as error:
        raise ConfigError(
            f"{folder} exists already; choose another name, or replace it with --replace"
        ) from error
    written = {
        _CALLED.get(file.name, f"{file.stem}{'_pdf' if file.suffix == '.pdf' else ''}"): file
        for file in sorted(folder.iterdir())
        if file.is_file()
    }
    if zipped:
        target = folder.with_name(folder.name + ".zip")
        publish({target: stage(target, partial(_zip, _folder_files(folder)))})
        written["zip"] = target
    return written


def _fill(
    result: Audit,
    staging: Path,
    summary: Mapping[str, object],
    further: Mapping[str, bytes],
    hide: Callable[[str], str],
    pseudonyms: bytes | None,
) -> dict[str, int]:
    """Write everything but the manifest; rows of each table by the name of its file."""
    rows = {}
    for name, frame in tables(result).items():
        rows[name] = len(frame)
        _write_file(staging / name, _csv(frame, hide))
    if result.engine is not None:
        contents.write(result.engine, staging, pseudonyms=pseudonyms)
    if pseudonyms is not None:
        for path in (p for name in contents.LISTS for p in staging.rglob(name)):
            # A line at a time, under its own name alone, whatever it is linked to.
            with path.open(encoding="utf-8", newline="") as lines:
                path.unlink()
                with path.open("w", encoding="utf-8", newline="") as file:
                    path.chmod(0o600)
                    file.writelines(map(hide, lines))
    rows[WORKBOOK] = min(len(result.findings), _WORKBOOK_ROWS)
    _write_file(staging / WORKBOOK, workbook_of(result, hide))
    # Sentences name numbers as well, so that what is hidden is hidden in the text.
    summary_text = json.dumps(summary, indent=2, ensure_ascii=False, default=str) + "\n"
    _write_file(staging / "summary.json", hide(summary_text).encode())
    for name, content in further.items():
        _write_file(staging / name, content)
    return rows


def _write_file(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)


def basis(result: Audit) -> dict[str, object]:
    """What an audit rests on: its period, its rules, what codes mean, and the data."""
    return {
        "since": None if result.since is None else result.since.isoformat(),
        "until": None if result.until is None else result.until.isoformat(),
        "rulebook_version": result.rulebook_version,
        "rulebook_sha256": result.rulebook_sha256,
        "taxonomy": result.taxonomy,
        "data": result.data_version,
    }


def _facts(
    result: Audit,
    key: Ed25519PrivateKey | None,
    pseudonyms: bytes | None,
    before: Mapping[str, str] | None,
) -> dict[str, object]:
    return {
        "options": dict(result.options),
        "predecessor": None if before is None else dict(before),
        "as_of": result.as_of.isoformat(),
        **basis(result),
        "inputs": dict(result.inputs),
        "versions": versions(),
        "tool": f"dialframe {dialframe.__version__}",
        "numbers": "whole" if pseudonyms is None else "pseudonyms",
        "public_key": "" if key is None else pack_seal.public_text(key.public_key()),
        "notice": "Facts for review, not legal advice.",
    }


def tables(result: Audit) -> dict[str, pd.DataFrame]:
    """Every table of a pack by the name of its file."""
    names = {"counts.csv": result.checks, FINDINGS: by_grade(result.findings)}
    parts = {
        "requests": "internal_dnc.csv",
        "abandonment": "abandonment.csv",
        "retention": "retention.csv",
        "advisory": "advisory.csv",
        "advisory_checks": "advisory_checks.csv",
        "rules": "rule_counts.csv",
        "not_asked": "not_asked.csv",
        "unmapped": "unmapped.csv",
        "coverage_by": "coverage_by.csv",
        "next_checks": "next_checks.csv",
    }
    return names | {
        file: result.parts[name] for name, file in parts.items() if name in result.parts
    }


def by_grade(findings: pd.DataFrame) -> pd.DataFrame:
    """Findings with violations first, then what is uncertain, then what waits for an input."""
    order = findings["grade"].map(_GRAVITY).fillna(len(_GRAVITY))
    return findings.iloc[order.argsort(kind="stable")].reset_index(drop=True)


def workbook_of(result: Audit, hide: Callable[[str], str]) -> bytes:
    """The findings, the gravest first, and the counts of each check as an Excel file."""
    findings = by_grade(result.findings).head(_WORKBOOK_ROWS)
    texts = findings.select_dtypes(["string", "object"]).columns
    hidden = {
        name: findings[name].map(lambda text: hide(str(text))[:_CELL_CHARS], na_action="ignore")
        for name in texts
    }
    return workbook({"findings": findings.assign(**hidden), "counts": result.checks})


def verify(
    path: Path, *, key: Ed25519PublicKey | None = None, after: Path | None = None
) -> Verified:
    """Hold every byte of a pack against its manifest, and its signature against a key.

    Args:
        path: A pack, as folder or as zip file.
        key: The officer's public key. Where one is expected, a pack without its signature, or with
            another's, is at fault.
        after: The pack that this one is expected to follow.

    Raises:
        ConfigError: There is no pack at the path.
    """
    if not path.exists():
        raise ConfigError(f"{path}: there is no pack; name its folder or its zip file")
    try:
        with _open_pack(path) as (files, faults):
            token = path.with_suffix(".tsr")
            beside = (
                {TOKEN: lambda: token.open("rb")} if path.is_file() and token.is_file() else {}
            )
            verified = _verify_files(path, {**files, **beside}, faults, key)
    except _MANGLED:
        return Verified(path, ("the pack was changed and cannot be read",), 0, "", "no", "nothing")
    if after is None:
        return verified
    first = verify(after)
    faults = [f"{after}, which it should follow: {fault}" for fault in first.faults]
    faults += [] if verified.before == first.head else [f"it does not follow {after}"]
    return replaced(verified, faults=(*verified.faults, *faults))


def remake(path: Path) -> tuple[list[str], list[str]]:
    """Hold a pack against the installed release, and make its law, findings and lists again with the release's program.

    Args:
        path: A pack whose bytes are as its manifest says.

    Returns:
        What to say, line by line, and the faults among it.
    """
    with _open_pack(path) as (files, _), tempfile.TemporaryDirectory() as room:
        if contents.RELEASE not in files:
            return ["it has no tables, so nothing in it was made again"], []
        folder = Path(room)
        for name, content in files.items():
            target = (folder / name).resolve()
            if not target.is_relative_to(folder.resolve()):
                return [], [f"{name} lies outside of the pack"]
            target.parent.mkdir(parents=True, exist_ok=True)
            with content() as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
        ran = (folder / "checks" / "order.txt").read_text(encoding="utf-8").split()
        own = contents.release([name for name in ran if name in BY_NAME])
        digests = {name: _hash(content) for name, content in files.items()}
        faults = [
            f"{name} is not that of {own['tool']}, which is installed here"
            for name, digest in own["files"].items()
            if digests.get(name) != digest
        ]
        # A program that somebody changed is never run, and queries of nobody's release prove nothing.
        if faults:
            made_by = json.loads((folder / contents.RELEASE).read_text(encoding="utf-8"))["tool"]
            return [
                *faults,
                f"the pack says that {made_by} made it: only that release can verify it",
            ], faults
        lines, faults = contents.verify(folder)
        elsewhere = contents.misplaced(folder)
        faults += elsewhere
        lines += elsewhere
        kept = [line for line in lines[1:] if not line.startswith((" ", "release: "))]
        return [
            f"queries, rule book and verify.py are those of {own['tool']}, which is installed here",
            *kept,
        ], faults


def _verify_files(
    path: Path,
    files: Mapping[str, Callable[[], IO[bytes]]],
    faults: list[str],
    key: Ed25519PublicKey | None,
) -> Verified:
    raw = _small(files.get(MANIFEST))
    manifest = None if raw is None else _parse_manifest(raw)
    if raw is None or manifest is None:
        sentence = f"{MANIFEST} {'is missing' if raw is None else 'was changed'}"
        return Verified(path, (*faults, sentence), 0, "", "no", "nothing")
    # First the names, then the contents: what is missing or added is said by name.
    named = {str(entry["name"]): str(entry["sha256"]) for entry in manifest["files"]}
    faults += [f"{name} is missing" for name in named if name not in files]
    for name in sorted(set(files) - set(_BESIDE)):
        if name not in named:
            faults.append(f"{name} was added")
        elif _hash(files[name]) != named[name]:
            faults.append(f"{name} was changed")
    head = _head(raw)
    requested = dict(manifest.get("facts", {})).get("time_stamp_requested")
    if (requested or REQUEST in files) and _small(
        files.get(REQUEST)
    ) != pack_seal.time_stamp_request(head):
        faults.append(f"{REQUEST} is missing or was changed")
    token = _small(files.get(TOKEN))
    stamp = None if token is None else pack_seal.read_time_stamp(token, head)
    if stamp is not None and stamp.fault:
        faults.append(stamp.said)
    signed, proves, public = _check_signature(
        _small(files.get(SIGNATURE)), head, key, manifest, faults
    )
    before = dict(dict(manifest.get("facts", {})).get("predecessor") or {})
    return Verified(
        path, tuple(faults), len(named), head, signed, proves, public,
        "no time stamp" if stamp is None else stamp.said, str(before.get("head", "")),
    )  # fmt: skip


def _check_signature(
    raw: bytes | None,
    head: str,
    key: Ed25519PublicKey | None,
    manifest: Mapping[str, Any],
    faults: list[str],
) -> tuple[str, str, str]:
    """Whether the signature holds, what is proven, and whose it is; faults are added."""
    facts = dict(manifest.get("facts", {}))
    declared = str(facts.get("public_key", ""))
    # Who signed one pack has to sign the next, else anybody could go on with the chain.
    chained = str(dict(facts.get("predecessor") or {}).get("public_key", ""))
    if raw is None:
        if key is not None or declared or chained:
            faults.append("there is no signature, though one was expected")
        return (
            "no",
            "unsigned: proves no author, nor when it was written, nor that no call was left out of it",
            "",
        )
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        statement = json.loads(raw)
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(statement["public_key"]))
        signature = bytes.fromhex(statement["signature"])
        public.verify(signature, head.encode())
        # Every byte counts: another word for the algorithm, capitals among the digits.
        same = pack_seal.signature_file(public, signature) == raw
    except (*_MANGLED, InvalidSignature):
        faults.append("the signature was changed, or is of another pack")
        return "no", "nothing of its author", ""
    own_key = pack_seal.public_text(public)
    if not same or declared != own_key:
        faults.append("the signature is not of the key that the manifest names")
    if key is None and chained and own_key != chained:
        faults.append(
            "it was signed by another key than the pack before; name the one that you expect (--key)"
        )
    # Anybody can make a key, sign with it and name it: that proves nothing of a person.
    if key is None:
        return "by its own key", (
            "whoever signed had the key that the pack itself names; whose it is, only a key that you "
            "expect can show (--key)"
        ), own_key  # fmt: skip
    if own_key != pack_seal.public_text(key):
        faults.append("the signature is not of this key")
        return "no", "it was signed by another key than the one that was expected", own_key
    return "yes", "it was signed with the key that was expected, and not changed since", own_key


def manifest_of(path: Path) -> dict[str, object]:
    """The manifest of a pack.

    Raises:
        ConfigError: There is none, or it was changed.
    """
    manifest = None
    if path.exists():
        try:
            with _open_pack(path) as (files, _):
                raw = _small(files.get(MANIFEST))
                manifest = None if raw is None else _parse_manifest(raw)
        except _MANGLED:
            manifest = None
    if manifest is None:
        raise ConfigError(f"{path}: there is no manifest that is as it was written")
    return dict(manifest)


def findings_of(path: Path) -> pd.DataFrame:
    """The findings of a pack, as text.

    Raises:
        ConfigError: The pack has none that can be read.
    """
    try:
        with _open_pack(path) as (files, _), files["findings.csv"]() as content:
            return unescape_frame(pd.read_csv(content, dtype="str", keep_default_na=True))
    except _MANGLED as error:
        raise ConfigError(f"{path}: the pack has no findings.csv that can be read") from error


def _manifest(folder: Path, rows: Mapping[str, int], facts: Mapping[str, object]) -> bytes:
    link, files = _START, []
    for file in sorted(path_inside for path_inside in folder.rglob("*") if path_inside.is_file()):
        name = file.relative_to(folder).as_posix()
        digest = _hash(lambda file=file: file.open("rb"))  # type: ignore[misc]
        # Name and content of each file hang on all before it: none can be swapped or left out.
        link = hashlib.sha256(f"{link}\n{name}\n{digest}".encode()).hexdigest()
        files.append(
            {"name": name, "rows": rows.get(name), "bytes": file.stat().st_size, "sha256": digest, "link": link}
        )  # fmt: skip
    return _seal({"format": FORMAT, "facts": dict(facts), "files": files, "head": link})


def _seal(body: Mapping[str, object]) -> bytes:
    """The manifest's one form, with the hash of everything else in it."""
    whole = _canonical(body)
    return _canonical({**body, "seal": hashlib.sha256(whole).hexdigest()})


def _canonical(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _parse_manifest(raw: bytes) -> dict[str, Any] | None:
    """A manifest that is byte for byte as it was written, else None."""
    try:
        manifest = json.loads(raw)
        # The chain is walked again, and the text compared: another order of keys is another manifest.
        body = {name: value for name, value in manifest.items() if name != "seal"}
        link = _START
        for entry in body["files"]:
            text = f"{link}\n{entry['name']}\n{entry['sha256']}"
            link = hashlib.sha256(text.encode()).hexdigest()
            if link != entry["link"]:
                return None
        same = link == body["head"] and _seal(body) == raw
    except _MANGLED:
        return None
    return manifest if same else None


def _head(manifest: bytes) -> str:
    """What is signed: the hash of the whole manifest, which holds the chain's last link."""
    return hashlib.sha256(manifest).hexdigest()


def _small(content: Callable[[], IO[bytes]] | None) -> bytes | None:
    """A small file whole; one that is far too large for what it should be counts as mangled."""
    if content is None:
        return None
    with content() as file:
        raw = file.read(_MOST_MANIFEST_BYTES + 1)
    # A mangled archive may say that a small file is terabytes.
    if len(raw) > _MOST_MANIFEST_BYTES:
        raise ValueError("a manifest is no such large file")
    return raw


def _hash(content: Callable[[], IO[bytes]]) -> str:
    digest = hashlib.sha256()
    with content() as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _folder_files(folder: Path) -> dict[str, Callable[[], IO[bytes]]]:
    """The files of a folder by their names, each to be opened."""
    return {
        file.relative_to(folder).as_posix(): lambda file=file: file.open("rb")  # type: ignore[misc]
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@contextmanager
def _open_pack(
    path: Path,
) -> Iterator[tuple[dict[str, Callable[[], IO[bytes]]], list[str]]]:
    """The files of a pack by their names, each to be opened, and what is wrong with its container."""
    if path.is_dir():
        yield _folder_files(path), []
        return
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        opened: dict[str, Callable[[], IO[bytes]]] = {
            name: lambda name=name: archive.open(name)  # type: ignore[misc]
            for name in names
        }
        faults = [] if len(set(names)) == len(names) else ["the zip file names a file twice"]
        # The same contents give the same bytes: built again beside it, so that every byte is accounted for.
        with tempfile.TemporaryDirectory() as room:
            again = Path(room) / "again.zip"
            with again.open("wb") as file:
                _zip(opened, file)
            if _hash(lambda: again.open("rb")) != _hash(lambda: path.open("rb")):
                faults.append("the zip file was changed")
        yield opened, faults


def _zip(files: Mapping[str, Callable[[], IO[bytes]]], target: IO[bytes]) -> None:
    """The same contents give the same bytes: sorted, dated 1980, without compression, a piece at a time."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _ZIP_DATE)
            # For the owner alone, also after it is unpacked.
            entry.external_attr = 0o600 << 16
            with files[name]() as content, archive.open(entry, "w", force_zip64=True) as out:
                while chunk := content.read(_CHUNK):
                    out.write(chunk)


def _csv(frame: pd.DataFrame, hide: Callable[[str], str], *, header: bool = True) -> bytes:
    return hide(csv_bytes(frame, header=header).decode()).encode()
