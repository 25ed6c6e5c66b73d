"""The shape of an index file. Owned by the writer; readers know it through read.py and catalog.py only.

An index file is never migrated: another SCHEMA_VERSION is another file name, filled anew. Row ids are private
to one file and mean nothing between two runs; whatever is shown is ordered by path and line.
"""

from __future__ import annotations

from typing import get_args

from ctxd.model import ReferenceKind

SCHEMA_VERSION = 3

# References outnumber everything else by far, so their kind is a number: the place in this tuple.
REFERENCE_KINDS: tuple[ReferenceKind, ...] = get_args(ReferenceKind)

# Facts that come from a file's path, as bits of files.facts.
TEST, EXAMPLE, VENDORED, LEGACY, GENERATED, STUB, BENCHMARK, TRANSLATED = 1, 2, 4, 8, 16, 32, 64, 128
# Files that repeat or exercise what others define: source does not see what they define.
BESIDE = TEST | EXAMPLE | VENDORED | LEGACY | GENERATED | STUB
# What is listed after the source itself.
BEHIND = BESIDE | BENCHMARK | TRANSLATED

# The qualified name of the symbol `s` called `n.name`; stored it would be a third of the table.
QUALIFIED_NAME = "CASE s.parent WHEN '' THEN n.name ELSE s.parent || '.' || n.name END"

# Columns of the full-text table, in order; bm25() takes one weight for each.
FTS_COLUMNS = ("path", "name", "context", "body")

SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 0);

CREATE TABLE files(
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  language TEXT NOT NULL DEFAULT '',      -- '' = nobody's
  content TEXT NOT NULL DEFAULT 'text',   -- code, docs, config, text
  facts INTEGER NOT NULL DEFAULT 0,       -- bits: TEST, EXAMPLE, ...
  skip TEXT NOT NULL DEFAULT '',          -- '' = indexed, else the reason
  note TEXT NOT NULL DEFAULT '',          -- what went wrong in parsing
  digest BLOB NOT NULL,                   -- sha256 of the bytes; empty when never opened
  size_bytes INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  hashed_ns INTEGER NOT NULL,             -- wall clock when the digest was taken
  encoding TEXT NOT NULL DEFAULT '',
  replaced INTEGER NOT NULL DEFAULT 0,    -- characters that could not be decoded
  line_count INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE texts(file_id INTEGER PRIMARY KEY, body BLOB NOT NULL);   -- packing.pack of the masked text, UTF-8

CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, folded TEXT NOT NULL);
CREATE INDEX names_folded ON names(folded);

CREATE TABLE chunks(
  id INTEGER PRIMARY KEY,                 -- rowid of its row in fts
  file_id INTEGER NOT NULL REFERENCES files(id),
  symbol_id INTEGER REFERENCES symbols(id),
  kind TEXT NOT NULL,
  line_start INTEGER NOT NULL,
  line_end INTEGER NOT NULL,
  byte_start INTEGER NOT NULL,
  byte_end INTEGER NOT NULL,
  tokens INTEGER NOT NULL
);
CREATE INDEX chunks_file ON chunks(file_id, line_start);
CREATE INDEX chunks_symbol ON chunks(symbol_id) WHERE symbol_id IS NOT NULL;

CREATE TABLE symbols(
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES files(id),
  name_id INTEGER NOT NULL REFERENCES names(id),
  kind TEXT NOT NULL,
  parent TEXT NOT NULL,                   -- qualified name of the definition around it; '' = none
  exported INTEGER NOT NULL,
  line_start INTEGER NOT NULL,
  line_end INTEGER NOT NULL,
  definition_line INTEGER NOT NULL,
  signature TEXT NOT NULL,
  doc TEXT NOT NULL
);
CREATE INDEX symbols_file ON symbols(file_id, line_start);
CREATE INDEX symbols_name ON symbols(name_id);

CREATE TABLE refs(
  file_id INTEGER NOT NULL REFERENCES files(id),
  place INTEGER NOT NULL,                 -- in the file's list
  name_id INTEGER NOT NULL REFERENCES names(id),
  kind INTEGER NOT NULL,                  -- place in REFERENCE_KINDS
  line INTEGER NOT NULL,
  symbol_id INTEGER REFERENCES symbols(id),
  receiver TEXT NOT NULL,
  PRIMARY KEY(file_id, place)
) WITHOUT ROWID;                          -- the largest table: an index on file_id would be half of it again
CREATE INDEX refs_name ON refs(name_id);

CREATE TABLE imports(
  file_id INTEGER NOT NULL REFERENCES files(id),
  line INTEGER NOT NULL,
  module TEXT NOT NULL,
  names TEXT NOT NULL,                    -- JSON array of [name, alias]
  PRIMARY KEY(file_id, line, module, names)
) WITHOUT ROWID;

-- A vector for each chunk that says something, of the model in meta('vector_model'); all of generation
-- meta('vectored') are there. The signs of its parts stand apart, so that a pass over all of them reads no more.
CREATE TABLE vectors(chunk_id INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE vector_bits(chunk_id INTEGER PRIMARY KEY, bits BLOB NOT NULL);

-- Text that words.expand made; contentless, so a changed row is a delete and an insert.
CREATE VIRTUAL TABLE fts USING fts5(
  path, name, context, body,
  content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2 tokenchars '_'"
);
-- Deleted rows are merged away when they are this many percent of a segment: the default of 10 makes a
-- replaced row four times as costly as a new one. Words are held up to so many bytes before they become a segment.
INSERT INTO fts(fts, rank) VALUES ('deletemerge', 40), ('hashsize', 2097152);
-- term, doc: in how many chunks it is; deleted rows do not count.
CREATE VIRTUAL TABLE fts_terms USING fts5vocab(fts, row);
-- term, doc, col, offset: for the dump.
CREATE VIRTUAL TABLE fts_places USING fts5vocab(fts, instance);
"""
