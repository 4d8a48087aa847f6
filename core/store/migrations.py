"""The tables of the cache, as numbered migrations: each runs once, in order, and never changes.

`token_score` has no primary key and no index: with one, 12 million rows take three times the disk
and each commit up to a second. Uniqueness is an anti-join inside the write transaction; the first
row wins. Text ids are UUID here and 32 hexadecimal digits in Python. Times are UTC.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from core.errors import CacheError
from core.store.clock import utc_now
from core.store.derive import touch_dataset
from core.store.faults import newer
from core.store.fetch import first_row
from core.store.pair_rows import refresh_pairs

_FIRST = """
CREATE TABLE dataset (
    dataset VARCHAR NOT NULL, path VARCHAR NOT NULL, format VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL, n_rows BIGINT NOT NULL, note VARCHAR NOT NULL,
    imported_at TIMESTAMP NOT NULL
);
CREATE TABLE item (
    dataset VARCHAR NOT NULL, item_id VARCHAR NOT NULL, condition VARCHAR NOT NULL,
    language VARCHAR NOT NULL, source VARCHAR NOT NULL, category VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL, resource_level VARCHAR NOT NULL, native BOOLEAN NOT NULL,
    context VARCHAR NOT NULL, stereotype VARCHAR NOT NULL, anti_stereotype VARCHAR NOT NULL,
    unrelated VARCHAR, unknown VARCHAR, answer_order VARCHAR[] NOT NULL, metadata JSON NOT NULL,
    collapsed BOOLEAN NOT NULL, content_hash VARCHAR NOT NULL,
    text_stereotype UUID NOT NULL, text_anti UUID NOT NULL, text_unrelated UUID, text_unknown UUID,
    row_order BIGINT NOT NULL
);
CREATE VIEW item_text AS
    SELECT dataset, item_id, condition, collapsed, row_order, 0 AS role_order,
        'stereotype' AS role, text_stereotype AS text_id, context, stereotype AS continuation
    FROM item
    UNION ALL
    SELECT dataset, item_id, condition, collapsed, row_order, 1,
        'anti_stereotype', text_anti, context, anti_stereotype
    FROM item
    UNION ALL
    SELECT dataset, item_id, condition, collapsed, row_order, 2,
        'unrelated', text_unrelated, context, unrelated
    FROM item WHERE text_unrelated IS NOT NULL
    UNION ALL
    SELECT dataset, item_id, condition, collapsed, row_order, 3,
        'unknown', text_unknown, context, unknown
    FROM item WHERE text_unknown IS NOT NULL;
CREATE TABLE scorer (
    scorer_id VARCHAR NOT NULL, model VARCHAR NOT NULL, fingerprint VARCHAR NOT NULL,
    quantization VARCHAR NOT NULL, dtype VARCHAR NOT NULL, device VARCHAR NOT NULL,
    attention VARCHAR NOT NULL, method VARCHAR NOT NULL, bos VARCHAR NOT NULL,
    batching VARCHAR NOT NULL, scoring_version INTEGER NOT NULL, created_at TIMESTAMP NOT NULL
);
CREATE TABLE token_score (
    scorer_id VARCHAR NOT NULL, text_id UUID NOT NULL,
    token_ids INTEGER[] NOT NULL, logprobs FLOAT[] NOT NULL,
    starts INTEGER[] NOT NULL, ends INTEGER[] NOT NULL, words INTEGER[] NOT NULL,
    sum DOUBLE NOT NULL, n_scored INTEGER NOT NULL, flags VARCHAR[] NOT NULL
);
CREATE TABLE unscored (
    scorer_id VARCHAR NOT NULL, text_id UUID NOT NULL,
    reason VARCHAR NOT NULL, detail VARCHAR NOT NULL
);
CREATE TABLE item_score (
    scorer_id VARCHAR NOT NULL, dataset VARCHAR NOT NULL, item_id VARCHAR NOT NULL,
    condition VARCHAR NOT NULL,
    l_stereotype DOUBLE, l_anti DOUBLE, l_unrelated DOUBLE, l_unknown DOUBLE,
    sum_stereotype DOUBLE, sum_anti DOUBLE, sum_unrelated DOUBLE, sum_unknown DOUBLE,
    n_stereotype INTEGER, n_anti INTEGER, n_unrelated INTEGER, n_unknown INTEGER,
    flags VARCHAR[] NOT NULL
);
CREATE TABLE run (
    run_id VARCHAR NOT NULL, command VARCHAR NOT NULL, scorer_id VARCHAR NOT NULL,
    dataset VARCHAR NOT NULL, started_at TIMESTAMP NOT NULL, ended_at TIMESTAMP,
    computed BIGINT NOT NULL, failed BIGINT NOT NULL, versions JSON NOT NULL, spec JSON NOT NULL,
    status VARCHAR NOT NULL
);
CREATE TABLE generation (
    scorer_id VARCHAR NOT NULL, dataset VARCHAR NOT NULL, generation BIGINT NOT NULL
);
"""

_SLICES = """
CREATE TABLE slice (
    name VARCHAR NOT NULL, dataset VARCHAR NOT NULL, query VARCHAR NOT NULL,
    item_ids VARCHAR[] NOT NULL, created_at TIMESTAMP NOT NULL
);
"""

# How a model's self-checks came out in a run; empty for the runs of before.
_CHECKS = "ALTER TABLE run ADD COLUMN checks VARCHAR DEFAULT ''"

# What makes an item a pair of sentences: no context, and these two continuations alone.
IS_PAIR = r"text_unrelated IS NULL AND text_unknown IS NULL AND regexp_full_match(context, '\s*')"

# The pairs, their scores, and the data sets that want another alignment.
_PAIRS = f"""
CREATE VIEW pair AS
    SELECT dataset, item_id, condition, collapsed, row_order, context,
        stereotype AS more, anti_stereotype AS less,
        text_stereotype AS text_more, text_anti AS text_less, metadata
    FROM item WHERE {IS_PAIR};
CREATE TABLE pair_score (
    scorer_id VARCHAR NOT NULL, dataset VARCHAR NOT NULL, item_id VARCHAR NOT NULL,
    condition VARCHAR NOT NULL, unit VARCHAR NOT NULL, align VARCHAR NOT NULL,
    score_more DOUBLE, score_less DOUBLE, n_unmodified INTEGER NOT NULL, flags VARCHAR[] NOT NULL
);
CREATE TABLE pair_alignment (dataset VARCHAR NOT NULL, align VARCHAR NOT NULL);
"""

# Axes, their poles and concepts; what reads a model's heads; and the files that hold the arrays.
# A row of `head_array` says where in a file the arrays of a pole, an axis or a concept lie.
_HEADS = """
CREATE TABLE tensor (
    path VARCHAR NOT NULL, n_bytes BIGINT NOT NULL, sha256 VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE TABLE head_reader (
    reader_id VARCHAR NOT NULL, model VARCHAR NOT NULL, fingerprint VARCHAR NOT NULL,
    quantization VARCHAR NOT NULL, dtype VARCHAR NOT NULL, device VARCHAR NOT NULL,
    attention VARCHAR NOT NULL, bos VARCHAR NOT NULL, heads_version INTEGER NOT NULL,
    n_layers INTEGER NOT NULL, n_heads INTEGER NOT NULL, head_dim INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE TABLE pole (
    pole VARCHAR NOT NULL, synset VARCHAR NOT NULL, synset_offset BIGINT NOT NULL,
    words VARCHAR[] NOT NULL, definition VARCHAR NOT NULL, language VARCHAR NOT NULL
);
CREATE TABLE axis (
    axis_set VARCHAR NOT NULL, position INTEGER NOT NULL, axis_id VARCHAR NOT NULL,
    negative VARCHAR NOT NULL, positive VARCHAR NOT NULL, source VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL, facet VARCHAR NOT NULL
);
CREATE TABLE concept (
    concept_set VARCHAR NOT NULL, position INTEGER NOT NULL, concept VARCHAR NOT NULL,
    text_id UUID NOT NULL, language VARCHAR NOT NULL, zipf DOUBLE, warmth INTEGER,
    competence INTEGER
);
CREATE TABLE head_array (
    reader_id VARCHAR NOT NULL, family VARCHAR NOT NULL, kind VARCHAR NOT NULL,
    key VARCHAR NOT NULL, content_id VARCHAR NOT NULL, path VARCHAR NOT NULL, row INTEGER NOT NULL
);
"""

# Where phrases fall on axes, computed once: a row of `axis_row` is an axis of a result, with its
# tests and the values of all phrases. A row of `atlas` says where a result's axes, or its concepts,
# lie on a map. Readers say how texts are batched and which modules were named; `unread` says which
# sentences they could not read, and `phrase_length` how many tokens a phrase is to them.
_RESULTS = """
CREATE TABLE axis_result (
    result_id VARCHAR NOT NULL, reader_id VARCHAR NOT NULL, family VARCHAR NOT NULL,
    axis_set VARCHAR NOT NULL, concept_set VARCHAR NOT NULL, reference_set VARCHAR NOT NULL,
    pooling VARCHAR NOT NULL, n_templates INTEGER NOT NULL, k INTEGER, seed BIGINT NOT NULL,
    n_axes INTEGER NOT NULL, created_at TIMESTAMP NOT NULL
);
CREATE TABLE axis_row (
    result_id VARCHAR NOT NULL, position INTEGER NOT NULL, axis_id VARCHAR NOT NULL,
    phrase_values DOUBLE[] NOT NULL, heads INTEGER[] NOT NULL, n_skipped BIGINT NOT NULL,
    separability DOUBLE NOT NULL, separability_chance DOUBLE NOT NULL,
    separability_held_out DOUBLE NOT NULL, held_out_chance DOUBLE NOT NULL,
    statistic DOUBLE NOT NULL, pvalue DOUBLE NOT NULL, qvalue DOUBLE NOT NULL, flagged BOOLEAN,
    rejection_rate DOUBLE NOT NULL, rejection_error DOUBLE NOT NULL, stability VARCHAR NOT NULL,
    difference DOUBLE NOT NULL, superiority DOUBLE NOT NULL, pvalue_location DOUBLE NOT NULL,
    spread_ratio DOUBLE NOT NULL, pvalue_spread DOUBLE NOT NULL,
    n_concepts BIGINT NOT NULL, n_reference BIGINT NOT NULL, n_negative BIGINT NOT NULL,
    n_positive BIGINT NOT NULL, method VARCHAR NOT NULL, reason VARCHAR NOT NULL
);
CREATE TABLE atlas (
    result_id VARCHAR NOT NULL, points_of VARCHAR NOT NULL, n_neighbors INTEGER NOT NULL,
    min_dist DOUBLE NOT NULL, seed BIGINT NOT NULL, names VARCHAR[] NOT NULL,
    x DOUBLE[] NOT NULL, y DOUBLE[] NOT NULL, left_out VARCHAR[] NOT NULL,
    n_duplicates INTEGER NOT NULL, versions JSON NOT NULL, created_at TIMESTAMP NOT NULL
);
ALTER TABLE head_reader ADD COLUMN batching VARCHAR DEFAULT 'batched';
ALTER TABLE head_reader ADD COLUMN heads_at VARCHAR DEFAULT '';
CREATE TABLE unread (
    reader_id VARCHAR NOT NULL, family VARCHAR NOT NULL, kind VARCHAR NOT NULL,
    of VARCHAR NOT NULL, content_id VARCHAR NOT NULL, template INTEGER NOT NULL,
    reason VARCHAR NOT NULL, detail VARCHAR NOT NULL
);
CREATE TABLE phrase_length (
    reader_id VARCHAR NOT NULL, content_id VARCHAR NOT NULL, n_tokens INTEGER NOT NULL
);
"""

# Scores that were computed elsewhere: of which file they are, and on what scale. Where they have no
# mean, `order_*` says which continuation is preferred. How many tokens of a pair count may be
# unknown.
_IMPORTS = """
CREATE TABLE score_import (
    scorer_id VARCHAR NOT NULL, dataset VARCHAR NOT NULL, path VARCHAR NOT NULL,
    format VARCHAR NOT NULL, sha256 VARCHAR NOT NULL, scale VARCHAR NOT NULL, note VARCHAR NOT NULL,
    n_items BIGINT NOT NULL, n_left_out BIGINT NOT NULL, imported_at TIMESTAMP NOT NULL
);
ALTER TABLE item_score ADD COLUMN order_stereotype DOUBLE;
ALTER TABLE item_score ADD COLUMN order_anti DOUBLE;
ALTER TABLE item_score ADD COLUMN order_unrelated DOUBLE;
ALTER TABLE item_score ADD COLUMN order_unknown DOUBLE;
ALTER TABLE pair_score ALTER COLUMN n_unmodified DROP NOT NULL;
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _SLICES, _CHECKS, _PAIRS, _HEADS, _RESULTS, _IMPORTS)
FIRST_WITH_PAIRS = 4


def migrate(con: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Bring the tables up to date, inside the caller's transaction.

    A cache from before there were pair scores gets those of all its scored pairs.

    Raises
    ------
    CacheNewer
        The tables are of a newer version of the program.
    CacheError
        A DuckDB file of something else.
    """
    done = schema_number(con, file)
    if done == 0:
        con.execute("CREATE TABLE migration (number INTEGER NOT NULL, applied_at TIMESTAMP)")
    for number, sql in enumerate(MIGRATIONS[done:], start=done + 1):
        con.execute(sql)
        con.execute("INSERT INTO migration VALUES (?, ?)", [number, utc_now()])
    if 0 < done < FIRST_WITH_PAIRS:
        touch_dataset(con)
        for (scorer_id,) in con.execute("SELECT scorer_id FROM scorer").fetchall():
            refresh_pairs(con, scorer_id)


def schema_number(con: duckdb.DuckDBPyConnection, file: Path) -> int:
    """The number of the last migration in the cache, 0 for a file without any table."""
    tables = [name for (name,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    if not tables:
        return 0
    if "migration" not in tables:
        raise CacheError(
            f"{file} holds tables of another program; choose another folder with --cache."
        )
    row = first_row(con, "SELECT max(number) FROM migration")
    number = int(row[0]) if row else 0
    if number > len(MIGRATIONS):
        raise newer(f"{file} was written by a newer version of Stereoscope", "upgrade the program")
    return number
