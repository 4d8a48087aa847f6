"""The rules of the tables about heads."""

from __future__ import annotations

from core.errors import CacheError
from core.store.axes import WITHOUT_POLE
from core.store.gate import Cache
from core.store.heads import ARRAYS, CONCEPT
from core.store.tensors import array_shapes

BEYOND = "An array of heads lies beyond the end of its file"
ARRAY_WITHOUT_FILE = "SELECT path FROM head_array ANTI JOIN tensor USING (path)"
ARRAY_WITHOUT_READER = "SELECT reader_id FROM head_array ANTI JOIN head_reader USING (reader_id)"

HEAD_RULES = {
    "An array of heads lies in a file that the cache does not vouch for": ARRAY_WITHOUT_FILE,
    "An array of heads is of a reader that the cache does not know": ARRAY_WITHOUT_READER,
    "An array of heads is there more than once": (
        "SELECT 1 FROM head_array GROUP BY reader_id, family, kind, key, content_id "
        "HAVING count(*) > 1"
    ),
    "Two arrays of heads lie in the same place": (
        "SELECT 1 FROM head_array GROUP BY path, kind, row "
        "HAVING count(DISTINCT (family, key, content_id)) > 1"
    ),
    "An axis lacks one of its poles": WITHOUT_POLE,
}


def rows_beyond(cache: Cache) -> int:
    """How many arrays are said to lie where their file has ended; reads the files' heads alone.

    Files that cannot be read are left out: `broken_tensors` names them.
    """
    with cache.reading() as con:
        held = con.execute(
            "SELECT path, kind, list(row) FROM head_array GROUP BY ALL ORDER BY path"
        ).fetchall()
    found = 0
    for path, kind, rows in held:
        try:
            shapes = array_shapes(cache, path)
        except CacheError:
            continue
        place = 3 if kind == CONCEPT else 0  # (P, L, H, C, D), and (N, ...)
        n = min(shapes[name][place] if name in shapes else 0 for name in ARRAYS[kind])
        found += sum(not 0 <= row < n for row in rows)
    return found
