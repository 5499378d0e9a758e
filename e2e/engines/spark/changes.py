"""The data plane reads and upserts what Spark wrote and changed, and Spark is kept from the rows that it upserted."""
from both import Both
from governed import query, write
from steps import Steps, expect

steps = Steps("spark changes")
both = steps.run("start session", lambda: Both("changes"), must=True)
sql = both.sql
MODES = {"merge": "merge-on-read", "copy": "copy-on-write"}


def created(name, mode, version, partitioned=""):
    properties = {"format-version": version, **{f"write.{what}.mode": MODES[mode] for what in ("delete", "update", "merge")}}
    sql(f"""CREATE TABLE #{name} (id BIGINT NOT NULL, grp INT, price FLOAT, amount DECIMAL(9,2), note STRING, place STRUCT<street: STRING, zip: INT>,
            lines ARRAY<STRUCT<sku: STRING, n: INT>>, marks MAP<STRING, STRUCT<a: INT, b: STRING>>) USING iceberg {partitioned}
            TBLPROPERTIES ({', '.join(f"'{k}'='{v}'" for k, v in properties.items())})""")
    sql(f"ALTER TABLE #{name} SET IDENTIFIER FIELDS id")


def source(first, last, note):
    return f"""SELECT id, CAST(id % 4 AS INT) AS grp, CAST(id / 8 AS FLOAT) AS price, CAST(id * 0.25 AS DECIMAL(9,2)) AS amount, '{note}' AS note,
               IF(id % 5 = 0, NULL, named_struct('street', concat('s', id), 'zip', IF(id % 3 = 0, NULL, CAST(id AS INT)))) AS place,
               array_repeat(named_struct('sku', concat('k', id), 'n', CAST(id AS INT)), CAST(id % 3 AS INT)) AS lines,
               map('x', named_struct('a', CAST(id AS INT), 'b', 'y')) AS marks FROM range({first}, {last})"""


def changed(name):
    for first in (0, 100, 200):
        sql(f"INSERT INTO #{name} {source(first, first + 100, 'new')}")
    sql(f"DELETE FROM #{name} WHERE id % 7 = 0")
    sql(f"UPDATE #{name} SET note = 'updated', place = NULL WHERE id BETWEEN 50 AND 120")
    sql(f"""MERGE INTO #{name} t USING ({source(250, 330, 'merged')}) s ON t.id = s.id
            WHEN MATCHED AND s.id % 5 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")
    sql(f"DELETE FROM #{name} WHERE note = 'updated' AND id % 2 = 0")
    return both.deletes(name)


EVOLUTION = (
    "ADD COLUMN extra STRING AFTER grp", "RENAME COLUMN note TO remark", "DROP COLUMN price", "ALTER COLUMN remark FIRST", "ALTER COLUMN grp TYPE BIGINT",
    "ALTER COLUMN amount TYPE DECIMAL(18,2)", "ADD COLUMN price DOUBLE", "ADD COLUMN place.geo STRUCT<lat: DOUBLE>", "RENAME COLUMN place.street TO road",
    "DROP COLUMN place.zip", "ALTER COLUMN place.geo FIRST", "ADD COLUMN place.zip STRING", "ALTER COLUMN lines.element.n TYPE BIGINT",
    "ADD COLUMN lines.element.price DECIMAL(5,1)", "RENAME COLUMN lines.element.sku TO code", "DROP COLUMN marks.value.b", "ADD COLUMN marks.value.c DATE",
)


def evolved(name):
    for change in EVOLUTION:
        sql(f"ALTER TABLE #{name} {change}")
        both.equal(name)
    sql(f"""INSERT INTO #{name} (id, grp, extra, remark, amount, price, place, lines, marks)
            SELECT id, 3000000000, 'e', 'late', 12345678901.25, id / 8, named_struct('geo', named_struct('lat', 1.5D), 'road', 'r', 'zip', 'z'),
            array(named_struct('code', 'c', 'n', 3000000000, 'price', 1.5)), map('m', named_struct('a', 1, 'c', DATE '2026-01-02')) FROM range(400, 420)""")
    sql(f"DELETE FROM #{name} WHERE id IN (1, 2, 3, 401) OR extra IS NULL AND id % 11 = 0")
    return both.equal(name)


def repartitioned(name):
    for change in ("ADD PARTITION FIELD truncate(2, remark)", "ADD PARTITION FIELD bucket(3, id)", "DROP PARTITION FIELD truncate(2, remark)"):
        sql(f"ALTER TABLE #{name} {change}")
        sql(f"DELETE FROM #{name} WHERE id IN (4, 17, 301, 405, 412)")
        sql(f"INSERT INTO #{name} (id, remark) SELECT 4, '{change}' UNION ALL SELECT 412, NULL")
        both.equal(name)


def upserted(name):
    """Governed upserts over what Spark left: of rows that are there, rows that were deleted, and rows that are new."""
    model = rows_of(name)
    for round, ids in enumerate(([*range(0, 40, 2), *range(300, 310)], [*range(0, 30, 3), *range(395, 430)], [*range(0, 430, 5)])):
        rows = [{"id": i, "remark": f"governed {round}", "grp": round, "lines": [{"code": "g", "n": i}], "place": {"road": "r"}} for i in ids]
        answer = write(both.ref(name), rows, "upsert")
        expect((answer["rows"], answer["updated"]), (len(rows), sum(i in model for i in ids)))
        both.equal(name)
        model.update({i: f"governed {round}" for i in ids})
        expect(rows_of(name), model)
    return both.deletes(name)


def rows_of(name):
    rows = sql(f"SELECT id, remark FROM #{name}")
    model = {r["id"]: r["remark"] for r in rows}
    expect(len(rows), len(model))  # no key is there twice
    return model


def refused(statement):
    try:
        sql(statement)
    except Exception as e:  # noqa: BLE001 - Spark wraps the refusal in errors of its own
        text = " ".join(str(e).split())
        if "ForbiddenException" not in text or "belongs to the platform" not in text:
            raise AssertionError(f"refused without the reason: {text[:600]}") from None
        return text[text.index("ForbiddenException"):][:300]
    raise AssertionError("not refused")


def owned(name, mode, version):
    """Rows of Spark 0 to 59, and 100 to 119 by an upsert, which also replaced 50 to 54."""
    created(name, mode, version)
    for first in (0, 30):
        sql(f"INSERT INTO #{name} {source(first, first + 30, 'new')}")
    answer = write(both.ref(name), [{"id": i, "note": "governed"} for i in (*range(50, 55), *range(100, 120))], "upsert")
    expect(answer["updated"], 5)


def kept(name):
    rows = query(both.ref(name), where="note = 'governed'", select=["id"])[0]
    expect(len(rows), 25)
    return both.equal(name)


REFUSED = {
    "update": "UPDATE #{} SET note = 'x' WHERE id = 101",
    "delete": "DELETE FROM #{} WHERE id IN (1, 119)",
    "delete all": "DELETE FROM #{}",
    "merge": "MERGE INTO #{} t USING (SELECT 105 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET note = 'x'",
    "merge that deletes": "MERGE INTO #{} t USING (SELECT 50 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
    "overwrite": "INSERT OVERWRITE #{0} SELECT * FROM #{0} WHERE id = 0",
    "truncate": "TRUNCATE TABLE #{}",
}
ALLOWED = {
    "insert": "INSERT INTO #{} (id, note) VALUES (500, 'spark'), (501, 'spark')",
    "merge of other files": "MERGE INTO #{} t USING (SELECT explode(array(1, 2, 600)) AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET note = 'm' "
                            "WHEN NOT MATCHED THEN INSERT (id, note) VALUES (s.id, 'm')",
    "update of other files": "UPDATE #{} SET note = 'u' WHERE id < 10",
    "delete from other files": "DELETE FROM #{} WHERE id IN (3, 33, 500)",
}


def maintained(name):
    """Compaction may not take the platform's files, and may take others."""
    call = f"CALL lake.system.rewrite_data_files(table => '{both.namespace}.{name}', options => map('rewrite-all', 'true')"
    said = refused(call + ")")
    sql(call + ", where => 'id < 50')")
    return said


TABLES = {
    "merge_v2": ("merge", 2, ""), "merge_v2_buckets": ("merge", 2, "PARTITIONED BY (bucket(4, id))"), "copy_v2_identity": ("copy", 2, "PARTITIONED BY (grp)"),
    "merge_v3": ("merge", 3, ""), "merge_v3_buckets": ("merge", 3, "PARTITIONED BY (bucket(4, id))"),
}
for name, how in TABLES.items():
    steps.run(f"{name}: changed by Spark", lambda: (created(name, *how), changed(name))[1])
    steps.run(f"{name}: each snapshot", lambda: both.history(name))
    steps.run(f"{name}: schema evolution", lambda: evolved(name))
    steps.run(f"{name}: partition evolution", lambda: repartitioned(name))
    steps.run(f"{name}: governed upserts", lambda: upserted(name))
    steps.run(f"{name}: each snapshot again", lambda: both.history(name))
    steps.run(f"{name}: reconciled", lambda: both.counted(name))
before = both.found()
for mode, version in (("merge", 2), ("copy", 2), ("merge", 3)):
    name = f"owned_{mode}_v{version}"
    steps.run(f"{name}: upserted", lambda: owned(name, mode, version), must=True)
    for what, statement in REFUSED.items():
        steps.run(f"{name}: refused {what}", lambda: refused(statement.format(name)))
    for what, statement in ALLOWED.items():
        steps.run(f"{name}: allowed {what}", lambda: sql(statement.format(name)) and None)
    steps.run(f"{name}: compaction", lambda: maintained(name))
    steps.run(f"{name}: the rows are there", lambda: kept(name))
    steps.run(f"{name}: reconciled", lambda: both.counted(name))
steps.run("findings are of what was refused", lambda: (expect(before, []), expect({(f["kind"], f["open"]) for f in both.found()}, {("ownership_violation", True)}))[1])
steps.finish()
