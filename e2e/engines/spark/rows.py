"""Spark reads what the data plane wrote: every type that both have, in each format version, with partitions, appended and upserted.

The tables stay, for DuckDB to read them too. Spark has neither times of a day nor nanoseconds: the tables named wide are DuckDB's alone."""
from both import Both
from governed import create, query, write
from made import BY, COLUMNS, KEYS, TABLES, WIDE, made
from steps import Steps, expect

steps = Steps("spark rows")
both = steps.run("start session", lambda: Both("rows"), must=True)
# first id, last id, step, mode: each upsert replaces rows of all writes before
WRITES = ((0, 60, 1, "append"), (60, 90, 1, "append"), (40, 100, 1, "upsert"), (0, 100, 3, "upsert"), (30, 70, 1, "upsert"))


def written(name, version, columns, partitions=()):
    table, model = create("rows", name, version, columns, partitions), {}
    for round, (first, last, step, mode) in enumerate(WRITES):
        if mode == "upsert" and version == 1:
            continue
        rows = [made(i, round, [c for c, _ in columns]) for i in range(first, last, step)]
        answer = write(table, rows, mode)
        expect((answer["rows"], answer["updated"]), (len(rows), sum(r["id"] in model for r in rows)))
        model.update({r["id"]: r for r in rows})
    return model


def deleted(name, version):
    got = both.deletes(name)
    expect(set(got), {1: set(), 2: {(1, "PARQUET")}, 3: {(1, "PUFFIN")}}[version])
    return got


def found(name, columns):
    """A value of a column finds its rows: it is in none of the files, and none of the manifests, that are left unread."""
    asked = 0
    for column in columns:
        for literal in KEYS.get(column, ()):
            everywhere = both.one(f"SELECT count_if({column} = {literal}) FROM #{name}")
            expect(both.one(f"SELECT count(*) FROM #{name} WHERE {column} = {literal}"), everywhere)
            expect(len(query(both.ref(name), where=f"{column} = {literal}", select=["id"])[0]), everywhere)
            asked += 1
    return f"{asked} values"


def transformed(name, partitions):
    """Files are in the partitions that Spark's own functions give for their rows."""
    for column, transform in partitions:
        kind, _, width = transform.rstrip("]").partition("[")
        if column == "u" or kind == "identity":
            continue  # Spark takes a UUID for text
        theirs = f"lake.system.{kind}({width}, {column})" if width else f"lake.system.{kind}s({column})"
        expect(both.one(f"SELECT count(*) FROM #{name} WHERE NOT (_partition.{column}_{kind} <=> {theirs})"), 0)


for version, kinds in TABLES.items():
    for kind in kinds:
        name, partitions = f"v{version}_{kind}", BY[kind]
        model = {}
        steps.run(f"{name}: written", lambda: model.update(written(name, version, COLUMNS, partitions)), must=True)
        steps.run(f"{name}: Spark reads the same", lambda: both.equal(name, model))
        steps.run(f"{name}: what deletes its rows", lambda: deleted(name, version))
        if kind == "plain":
            steps.run(f"{name}: each snapshot", lambda: both.history(name))
        steps.run(f"{name}: values find their rows", lambda: found(name, [c for c, _ in partitions] or list(KEYS)[::3]))
        steps.run(f"{name}: partitions are Spark's", lambda: transformed(name, partitions))
        steps.run(f"{name}: reconciled", lambda: both.counted(name))
    steps.run(f"v{version}_wide: written", lambda: written(f"v{version}_wide", version, COLUMNS + WIDE[version]) and None)
steps.finish()
