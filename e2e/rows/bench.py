"""Governed reads and writes measured beside DuckDB and PyIceberg on the same files, each ratio within one run.

    bench.py [files] [rows of a file] [reads | writes]     the defaults are 40, 50000 and both
"""
import io
import json
import os
import statistics
import sys
import time
import urllib.request

import duckdb
import pyarrow as pa

from product import Product

ROWS = """SELECT i::BIGINT AS id, (h % 1000)::INTEGER AS kind, (h % 1000003)::DOUBLE / 7 AS amount, ((h % 2000000) / 100.0)::DECIMAL(12,2) AS price,
  TIMESTAMP '2024-01-01' + INTERVAL (i % 30000000) SECOND AS at, 'user' || (h % 50000) || '@example.org' AS email, md5(i::VARCHAR) AS text
FROM (SELECT i, (hash(i) % 9007199254740991)::BIGINT AS h FROM range({start}, {end}) t(i))"""


def timed(f, times=5):
    return compared(times, f)[0]


def compared(times, *fs):
    """The median of what each takes; they take turns, so that what else runs slows all of them."""
    took = [[] for _ in fs]
    for _ in range(times):
        for f, mine in zip(fs, took):
            began = time.perf_counter()
            f()
            mine.append(time.perf_counter() - began)
    return [statistics.median(mine) for mine in took]


def processor(pid):
    """The seconds of processor time that a process took so far."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def work(f, times, *pids):
    """The processor time of one call, of this process and others."""
    pids = (os.getpid(), *pids)
    before = [processor(pid) for pid in pids]
    for _ in range(times):
        f()
    return [(processor(pid) - b) / times for pid, b in zip(pids, before)]


def high_water(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) // 1024 for line in f if line.startswith("VmHWM"))


def say(what, seconds, rows, other=None, name=""):
    text = f"{what}: {seconds * 1000:.0f} ms, {rows / seconds / 1e6:.2f} M rows/s"
    print(text + (f", {seconds / other:.2f} times {name}'s {other * 1000:.0f} ms" if other else ""), flush=True)


def scans(product, table, total):
    db, ref = duckdb.connect(), "main.bench.t"
    paths = [t.file.file_path.removeprefix("file://") for t in table.scan().plan_files()]
    analyst = product.rows(product.reader("analyst", "internal", "DATA_READ"))
    root = product.rows()
    queries = {
        "all columns": ("*", None),
        "two columns": ("id, amount", None),
        "one text column": ("email", None),
        "filter 1 in 1,000": ("*", "kind = 7"),
        "filter half": ("id, price", "amount < 71000"),
    }
    for name, (columns, where) in queries.items():
        select = None if columns == "*" else columns.split(", ")
        sql = f"SELECT {columns} FROM read_parquet({paths!r})" + (f" WHERE {where}" if where else "")
        want = db.execute(sql).to_arrow_table().num_rows
        assert root.read(ref, columns=select, where=where).to_arrow().num_rows == want
        duck, governed = lambda: db.execute(sql).to_arrow_table(), lambda: root.read(ref, columns=select, where=where).to_arrow()
        d, s, p = compared(5, duck, governed, lambda: table.scan(row_filter=where or "true", selected_fields=tuple(select or ["*"])).to_arrow())
        say(f"scan, {name}: governed", s, total, d, "DuckDB")
        say(f"scan, {name}: governed", s, total, p, "PyIceberg")
        alone, _ = work(duck, 5, product.process.pid)
        client, server = work(governed, 5, product.process.pid)
        print(f"scan, {name}: processor {server * 1000:.0f} ms of the server and {client * 1000:.0f} ms here, {(server + client) / alone:.2f} times DuckDB's {alone * 1000:.0f} ms", flush=True)
    for mask in ("null", "redact", "partial", "truncate", "hash"):
        product.cli("tables", "classify", ref, "internal", "--identity-columns", "id", "--column", f"email=restricted:email:{mask}")
        clear, masked = compared(5, *(lambda by=by: by.read(ref, columns=["id", "email"]).to_arrow() for by in (root, analyst)))
        say(f"mask {mask}: masked", masked, total, clear, "unmasked")


def page(product, token):
    body = {"select": ["id", "amount", "email"], "page-size": 1000} | ({"page-token": token} if token else {})
    return product.call("POST", "/data/v1/tables/main.bench.t/query", body)


def pages(product):
    took, token = [], None
    for _ in range(1000):
        began = time.perf_counter()
        answer = page(product, token)
        took.append(time.perf_counter() - began)
        token = answer.get("next-page-token")
        if not token:
            break
    first, last = statistics.median(took[:20]), statistics.median(took[-20:])
    print(f"pages of 1,000 rows: page 1 takes {first * 1000:.1f} ms, page {len(took)} {last * 1000:.1f} ms, {last / first:.2f} times", flush=True)


def writes(product, batch):
    product.catalog().create_table("bench.w", batch.schema, properties={"format-version": "2"})
    product.cli("tables", "classify", "main.bench.w", "internal", "--column", "email=confidential:email")
    rows, count = product.rows(), batch.num_rows
    ndjson = ("\n".join(json.dumps({**r, "id": str(r["id"]), "price": str(r["price"]), "at": r["at"].isoformat()}) for r in batch.to_pylist()) + "\n").encode()
    took = timed(lambda: post(product, "main.bench.w", ndjson), 3)
    print(f"write NDJSON: {len(ndjson) / took / 1e6:.0f} MB/s, {count / took / 1e6:.2f} M rows/s", flush=True)
    took = timed(lambda: rows.write("main.bench.w", batch), 3)
    print(f"write Arrow: {batch.nbytes / took / 1e6:.0f} MB/s, {count / took / 1e6:.2f} M rows/s", flush=True)
    engine = product.catalog().load_table("bench.t")
    product.call("PUT", "/api/governance/v1/tables/main.bench.t/write-policy", {"policy": "open_append"})
    took = timed(lambda: engine.refresh().append(batch), 3)
    print(f"append by PyIceberg: {batch.nbytes / took / 1e6:.0f} MB/s, {count / took / 1e6:.2f} M rows/s", flush=True)
    small = batch.slice(0, 1000)
    took = timed(lambda: rows.write("main.bench.w", small), 20)
    print(f"append of 1,000 rows: {took * 1000:.0f} ms", flush=True)


def upserts(product, ref, ids):
    rows = product.rows()
    for count in (100, 10_000):
        batch = duckdb.connect().execute(ROWS.format(start=ids // 2, end=ids // 2 + count)).to_arrow_table()
        took = timed(lambda: rows.write(ref, batch, mode="upsert"), 5)
        print(f"upsert of {count:,} rows into {ids:,}: {took * 1000:.0f} ms", flush=True)


def post(product, ref, body):
    request = urllib.request.Request(f"{product.root}/data/v1/tables/{ref}/write?mode=append", data=io.BytesIO(body), method="POST")
    request.add_header("Authorization", "Bearer " + product.boot["token"])
    request.add_header("Content-Type", "application/x-ndjson")
    request.add_header("Content-Length", str(len(body)))
    urllib.request.urlopen(request, timeout=600).read()


def main():
    files, size = (int(a) for a in (sys.argv[1:] + ["40", "50000"][len(sys.argv) - 1:])[:2])
    product = Product()
    try:
        db, catalog = duckdb.connect(), product.catalog()
        catalog.create_namespace("bench")
        table = catalog.create_table("bench.t", db.execute(ROWS.format(start=0, end=1)).to_arrow_table().schema, properties={"format-version": "2"})
        product.call("PUT", "/api/governance/v1/tables/main.bench.t/write-policy", {"policy": "open_full"})
        for n in range(files):
            table.append(db.execute(ROWS.format(start=n * size, end=(n + 1) * size)).to_arrow_table())
        product.cli("tables", "classify", "main.bench.t", "internal", "--identity-columns", "id")
        print(f"{files} files of {size:,} rows; serve holds {high_water(product.process.pid)} MB at most so far", flush=True)
        if len(sys.argv) < 4 or sys.argv[3] == "reads":
            scans(product, table, files * size)
            pages(product)
        print(f"after reads serve holds {high_water(product.process.pid)} MB at most", flush=True)
        if sys.argv[3:] == ["reads"]:
            return
        writes(product, db.execute(ROWS.format(start=10**9, end=10**9 + 300_000)).to_arrow_table())
        upserts(product, "main.bench.t", files * size)
        print(f"after writes serve holds {high_water(product.process.pid)} MB at most", flush=True)
    finally:
        product.close()


if __name__ == "__main__":
    main()
