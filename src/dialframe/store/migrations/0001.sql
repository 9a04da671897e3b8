-- needs dialframe 0.1.0
-- What a store keeps in SQLite: where walks stand, which parts there are, and what is not in a part yet.

-- Facts about the store as a whole, as JSON.
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Where a walk over a list stands, as JSON.
CREATE TABLE checkpoint (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;

-- Of each table: the highest number that a version was given, and when any row was seen last.
CREATE TABLE tally (
    table_name TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    seen_at INTEGER
) WITHOUT ROWID;

-- Young versions: the rows that one answer brought, as JSON, numbered from first_seq on. The digest is over the
-- content and the facts beside it; instants are microseconds since 1970 UTC.
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    table_name TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
    request_id TEXT,
    gone INTEGER NOT NULL,
    digest BLOB NOT NULL,
    content TEXT NOT NULL
);
CREATE INDEX page_of_table ON page (table_name, first_seq, rows);

-- Sealed versions: Parquet files, described so that most questions open few of them.
CREATE TABLE part (
    name TEXT PRIMARY KEY,
    table_name TEXT NOT NULL,
    history INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    digest TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    first_time,
    last_time,
    first_observed INTEGER NOT NULL,
    last_observed INTEGER NOT NULL,
    last_until INTEGER NOT NULL,
    dead INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- From when on another version counts, where neither page nor part says so yet.
CREATE TABLE patch (
    table_name TEXT NOT NULL,
    seq INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (table_name, seq)
) WITHOUT ROWID;

-- The latest version of each key: hash of the key, number of the version, hash of its content (0: it says that the
-- row is no longer listed). New ones wait in young_head, which is small, until a part is sealed: keys come in no
-- order, and each would rewrite another page of a large tree.
CREATE TABLE head (
    table_name TEXT NOT NULL,
    key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    content INTEGER NOT NULL,
    PRIMARY KEY (table_name, key)
) WITHOUT ROWID;
CREATE TABLE young_head (
    table_name TEXT NOT NULL,
    key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    content INTEGER NOT NULL,
    PRIMARY KEY (table_name, key)
) WITHOUT ROWID;

-- Latest versions that were seen again, packed: numbers of versions, and the instants (64 bits each, in two blobs).
CREATE TABLE sighting (
    id INTEGER PRIMARY KEY,
    table_name TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    seqs BLOB NOT NULL,
    instants BLOB
);
CREATE INDEX sighting_of_table ON sighting (table_name, seen_at);

-- Latest versions that full walks did not return, and how many walks in a row.
CREATE TABLE missed (
    table_name TEXT NOT NULL,
    seq INTEGER NOT NULL,
    walks INTEGER NOT NULL,
    PRIMARY KEY (table_name, seq)
) WITHOUT ROWID;

-- The latest Do-Not-Call answer about each number.
CREATE TABLE last_check (
    phone TEXT PRIMARY KEY,
    listed INTEGER,
    checked_at INTEGER,
    request_id TEXT
) WITHOUT ROWID;

-- Every campaign that a table's rows ever named.
CREATE TABLE campaign (
    table_name TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (table_name, id)
) WITHOUT ROWID;

-- Records that did not validate, each content once.
CREATE TABLE quarantine (
    seq INTEGER PRIMARY KEY,
    table_name TEXT NOT NULL,
    raw TEXT NOT NULL,
    reason TEXT NOT NULL,
    observed_at INTEGER NOT NULL,
    request_id TEXT,
    digest BLOB NOT NULL,
    UNIQUE (table_name, digest)
);

-- Keyed hashes by which forgotten numbers, and the ids of their leads, are recognized.
CREATE TABLE forgotten (
    mark BLOB PRIMARY KEY,
    digits INTEGER NOT NULL
) WITHOUT ROWID;
