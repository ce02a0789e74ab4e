"""Tables on disk become arrays: text, Excel, Parquet, Arrow and NumPy archives, without a second copy.

`read_table` reads a table to fit to, `read_new_rows` reads rows to predict in the same way. A table is
refused, with a `TableError`, before any work.

| suffix                                       | what                                             |
|----------------------------------------------|--------------------------------------------------|
| `.csv` `.tsv` `.tab` `.txt` `.dat` `.data`   | text; delimiter and header are found             |
| `.parquet` `.pq`                             | Parquet                                          |
| `.arrow` `.feather` `.ipc`                   | Arrow file or stream, Feather 2                  |
| `.npz`                                       | NumPy archive: X, y, names; see `archives`       |
| `.xlsx`                                      | a sheet of a workbook; needs fastexcel           |
| one of these and `.gz` `.bz2` `.xz` `.zst`   | the same, compressed                             |
| `-`                                          | standard input, any of these                     |

The first bytes of a file count, not its suffix: other suffixes are read too.
"""

from garrote.tables.coding import CodedColumn, Coding
from garrote.tables.errors import RefusedTable, TableError
from garrote.tables.formats.sources import COMPRESSIONS, SUFFIXES
from garrote.tables.new_rows import NewRows, read_needed_rows, read_new_rows
from garrote.tables.reading import DataTable, read_table
from garrote.tables.roles import Wanted

__all__ = [
    "COMPRESSIONS",
    "SUFFIXES",
    "CodedColumn",
    "Coding",
    "DataTable",
    "NewRows",
    "RefusedTable",
    "TableError",
    "Wanted",
    "read_needed_rows",
    "read_new_rows",
    "read_table",
]
