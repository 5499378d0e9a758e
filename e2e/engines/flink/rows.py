"""The data plane reads and upserts what Flink upserted, with equality and position deletes, and Spark reads all of it."""
import subprocess

from both import Both
from governed import write
from steps import Steps, expect
from streams import Streams

NS, ROWS = "streamed", 600
steps = Steps("flink rows")
both = steps.run("start Spark", lambda: Both(NS), must=True)
flink = Streams(NS, steps)


def created(name, version, partitioned):
    both.sql(f"CREATE TABLE #{name} (id BIGINT NOT NULL, n BIGINT) USING iceberg {partitioned} TBLPROPERTIES ("
             f"'format-version'='{version}', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read')")
    both.sql(f"ALTER TABLE #{name} SET IDENTIFIER FIELDS id")


def streamed(name):
    """A hundred keys, each upserted several times; then Spark deletes some."""
    flink.end("upsert", name, ROWS)
    both.sql(f"DELETE FROM #{name} WHERE id % 10 = 3")
    both.sql(f"UPDATE #{name} SET n = n + 1 WHERE id % 10 = 4")
    expect({r["id"]: r["n"] for r in both.sql(f"SELECT * FROM #{name}")}, model())
    return both.deletes(name)


def model():
    last = {n % 100: n for n in range(1, ROWS + 1)}
    return {i: n + (i % 10 == 4) for i, n in last.items() if i % 10 != 3}


def upserted(name):
    want = model()
    for round, ids in enumerate((range(0, 60, 3), range(40, 140, 4), range(0, 120, 10))):
        rows = [{"id": i, "n": str(-round - i)} for i in ids]
        expect(write(both.ref(name), rows, "upsert")["updated"], sum(i in want for i in ids))
        want.update({i: -round - i for i in ids})
        got = both.sql(f"SELECT * FROM #{name}")
        expect((len(got), {r["id"]: r["n"] for r in got}), (len(want), want))
        both.equal(name)
    return both.deletes(name)


def kept(name):
    """A stream that would replace rows which the data plane upserted does not commit."""
    before = both.equal(name)
    if flink.start("upsert", name, "601-700").wait(timeout=300) == 0:
        raise AssertionError("it committed")
    expect(both.equal(name), before)


def counted_by_flink(name):
    out, _ = flink.java("Query", f"SELECT count(*), sum(n) FROM (SELECT * FROM DB.{name})", stdout=subprocess.PIPE).communicate(timeout=300)
    rows = both.sql(f"SELECT count(*), sum(n) FROM #{name}")[0]
    expect(out.strip(), f"+I[{rows[0]}, {rows[1]}]")


for name, version, partitioned in (("v2_plain", 2, ""), ("v2_buckets", 2, "PARTITIONED BY (bucket(3, id))"), ("v3_plain", 3, "")):
    steps.run(f"{name}: created", lambda: created(name, version, partitioned), must=True)
    steps.run(f"{name}: upserted by Flink, deleted by Spark", lambda: streamed(name))
    steps.run(f"{name}: each snapshot", lambda: both.history(name))
    steps.run(f"{name}: governed upserts", lambda: upserted(name))
    steps.run(f"{name}: Flink reads the same", lambda: counted_by_flink(name))
    steps.run(f"{name}: Flink may not replace these rows", lambda: kept(name))
    steps.run(f"{name}: reconciled", lambda: both.counted(name))
steps.run("findings are of what was refused", lambda: expect({f["kind"] for f in both.found()}, {"ownership_violation"}))
steps.finish()
