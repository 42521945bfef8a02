# -- Parquet files ----------------------------------------------------------------------------------------------------

PARQUET_BATCH = 256  # rows that are taken apart at once


def _open_parquet(path):
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # the others reserve more addresses than the limit
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(path)
    except ModuleNotFoundError:
        raise
    except Exception as error:  # no such file, or none of Parquet: the user's news
        raise Failure("%s: %s" % (path, error))


def _plain(value):
    """A value of a column as JSON knows it. NaN, which pandas writes for what is missing, is null."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) for item in value):
            return {key: _plain(item) for key, item in value}  # a map
        return [_plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        import base64

        return base64.b64encode(value).decode("ascii")
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


class _ParquetRows:
    """Rows of a file from one of them on, in their order, one batch of a row group in memory at a time."""

    def __init__(self, path, first):
        file = _open_parquet(path)
        group, begin = 0, 0
        while group < file.num_row_groups and begin + file.metadata.row_group(group).num_rows <= first:
            begin += file.metadata.row_group(group).num_rows
            group += 1
        self.path, self.next, self.before = path, first, first - begin
        groups = list(range(group, file.num_row_groups))
        self.batches = iter(file.iter_batches(batch_size=PARQUET_BATCH, row_groups=groups, use_threads=False))
        self.batch, self.values, self.at = None, None, 0

    def find_batch(self):
        """Whether there is a next row; it is row `at` of the batch then."""
        while self.batch is None or self.at >= self.batch.num_rows:
            if self.batch is not None:
                self.before = max(0, self.before - self.batch.num_rows)
            self.batch = next(self.batches, None)
            if self.batch is None:
                return False
            self.at = min(self.before, self.batch.num_rows)
            try:
                self.values = self.batch.to_pylist()
            except Exception:
                self.values = None  # one of them: found row by row
        return True

    def text(self):
        """The row as JSON."""
        value = self.batch.slice(self.at, 1).to_pylist()[0] if self.values is None else self.values[self.at]
        text = json.dumps(_plain(value), ensure_ascii=False)
        text.encode("utf-8")
        return text

    def take(self, most_bytes):
        """(texts of rows as JSON, whether these are the last). A row that cannot be read is an object with its fault."""
        texts, size = [], 0
        while size < most_bytes:
            if not self.find_batch():
                return texts, True
            try:
                texts.append(self.text())
                size += len(texts[-1])
            except Exception as error:
                texts.append({"fault": "%s: %s" % (type(error).__name__, error)})
            self.at += 1
            self.next += 1
        return texts, False


_parquet_rows = None  # where the last request ended


def parquet_rows(request):
    """Rows of the file at `path` from number `first` (0 is the first) on, about `max_bytes` of them."""
    global _parquet_rows
    path, first = request["path"], request["first"]
    if _parquet_rows is None or _parquet_rows.path != path or _parquet_rows.next != first:
        _parquet_rows = _ParquetRows(path, first)
    try:
        rows, is_end = _parquet_rows.take(request["max_bytes"])
    except Exception as error:
        _parquet_rows = None
        raise Failure("%s: %s: %s" % (path, type(error).__name__, error))
    if is_end:
        _parquet_rows = None
    return {"rows": rows, "end": is_end}


def parquet_count(request):
    """The number of rows."""
    return {"num_rows": _open_parquet(request["path"]).metadata.num_rows}


OPERATIONS.update(parquet_rows=parquet_rows, parquet_count=parquet_count)
