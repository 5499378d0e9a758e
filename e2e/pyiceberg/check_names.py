"""Namespaces, names, partitions, and every way in which PyIceberg makes, moves and removes a table."""
import datetime as dt
import time

from pyiceberg.exceptions import (
    CommitFailedException, ForbiddenError, NamespaceAlreadyExistsError, NamespaceNotEmptyError, NoSuchNamespaceError, NoSuchTableError,
    TableAlreadyExistsError,
)

from data import BY_DAY, SCHEMA, count, rows
from product import catalog, mint, reconciled, refused, set_catalog_policy, set_namespace_policy, set_policy, settled, table
from steps import Steps, expect

steps = Steps("names")
cat = catalog(mint(True)["token"])
steps.run("default write policy of the catalog: open_append", lambda: set_catalog_policy("open_append"))
steps.run("create namespace with properties", lambda: cat.create_namespace("shop", {"owner": "ops"}))
steps.run("a namespace that exists", lambda: refused(NamespaceAlreadyExistsError, lambda: cat.create_namespace("shop")))
steps.run("nested namespaces", lambda: (cat.create_namespace(("shop", "eu")), cat.create_namespace(("shop", "eu", "north")), expect(
    (cat.list_namespaces("shop"), cat.list_namespaces(("shop", "eu"))), ([("shop", "eu")], [("shop", "eu", "north")])))[2])
steps.run("namespace properties", lambda: (cat.update_namespace_properties("shop", {"owner"}, {"team": "a"}), expect(
    {k: v for k, v in cat.load_namespace_properties("shop").items() if k in ("owner", "team")}, {"team": "a"}))[1])


def partitioned():
    ident, ref = ("shop", "eu", "north", "events"), "main.shop.eu.north.events"
    t = cat.create_table(ident, SCHEMA, partition_spec=BY_DAY)
    t.append(rows(range(0, 72)))
    t.append(rows(range(24, 48)))
    expect((count(t), len({task.file.partition[0] for task in t.scan().plan_files()})), (96, 3))
    expect(t.scan(row_filter="ts >= '2026-01-02T00:00:00+00:00' and ts < '2026-01-03T00:00:00+00:00'").to_arrow().num_rows, 48)
    state = settled(ref)
    expect(state["rowCount"], 96)
    events = reconciled(state["uuid"])
    expect([[(e["details"]["rows"], e["details"]["files"]) for e in events[str(s.snapshot_id)]] for s in t.metadata.snapshots],
           [[(72, 3)], [(24, 1)]])
    set_policy(ref, "open_full")
    t.refresh()
    t.delete("ts < '2026-01-01T12:00:00+00:00'")  # part of a file: rewritten
    t.overwrite(rows(range(24, 30)), overwrite_filter="ts >= '2026-01-02T00:00:00+00:00' and ts < '2026-01-03T00:00:00+00:00'")
    expect(count(t), 12 + 6 + 24)
    expect(settled(ref)["rowCount"], 42)
    t.upsert(rows(range(24, 34), "upd"), join_cols=["id"])
    expect(count(t), 46)
    expect(settled(ref)["rowCount"], 46)
    return "96, 42, 46 rows"


steps.run("partitioned by day: append, delete, overwrite, upsert", partitioned)

NAMES = ["with space", "dots.in.it", "per%cent", "100%25", "plus+sign", "äöü-名前-🧊", "semi;colon", "quote'd", "a&b=c", "Case", "UPPER_lower", "%1F", "tilde~-_"]


def named(namespace, name):
    if not cat.namespace_exists(namespace):
        cat.create_namespace(namespace)
    ident = (*namespace, name)
    t = cat.create_table(ident, SCHEMA)
    t.append(rows(range(3)))
    expect(count(cat.load_table(ident)), 3)
    expect(cat.table_exists(ident), True)
    expect([x[-1] for x in cat.list_tables(namespace)], [name])
    expect(settled(str(t.metadata.table_uuid))["rowCount"], 3)
    cat.drop_table(ident)
    expect(cat.table_exists(ident), False)
    cat.drop_namespace(namespace)
    expect(cat.namespace_exists(namespace), False)


for n in NAMES:
    steps.run(f"table {n!r}", lambda n=n: named(("odd",), n))
for n in NAMES:
    steps.run(f"namespace {n!r}", lambda n=n: named((n,), "t"))
steps.run("nested namespace with odd names", lambda: (cat.create_namespace(("a.b",)), named(("a.b", "c d%+"), "é.x"), cat.drop_namespace(("a.b",)))[1])
steps.run("names differ by case", lambda: (cat.create_table("shop.low", SCHEMA), cat.create_table("shop.LOW", SCHEMA), expect(
    sorted(x[-1] for x in cat.list_tables("shop")), ["LOW", "low"]), cat.drop_table("shop.low"), cat.drop_table("shop.LOW"))[2])
steps.run("a slash in a name is refused or kept apart", lambda: refused(Exception, lambda: cat.load_table(("shop", "../shop/low"))))


def rename():
    cat.create_table("shop.old", SCHEMA).append(rows(range(4)))
    settled("main.shop.old")
    cat.rename_table("shop.old", ("shop", "eu", "new"))
    expect((cat.table_exists("shop.old"), count(cat.load_table(("shop", "eu", "new")))), (False, 4))
    cat.load_table(("shop", "eu", "new")).append(rows(range(4, 6)))
    expect(settled("main.shop.eu.new")["rowCount"], 6)
    cat.create_table("shop.taken", SCHEMA)
    refused(TableAlreadyExistsError, lambda: cat.rename_table(("shop", "eu", "new"), "shop.taken"))
    refused(NoSuchTableError, lambda: cat.rename_table("shop.nope", "shop.other"))
    cat.drop_table("shop.taken")


steps.run("rename across namespaces", rename)


def register():
    """A table that is dropped and registered again keeps its commits, and they are governed."""
    at = cat.load_table(("shop", "eu", "new"))
    cat.drop_table(("shop", "eu", "new"))
    cat.register_table("shop.again", at.metadata_location)
    t = cat.load_table("shop.again")
    expect((count(t), t.metadata.table_uuid), (6, at.metadata.table_uuid))
    t.append(rows(range(6, 9)))
    expect(settled("main.shop.again")["rowCount"], 9)
    cat.drop_table("shop.again")


steps.run("drop and register", register)
steps.run("register what is not there", lambda: refused(Exception, lambda: cat.register_table("shop.ghost", "file:///nowhere/v1.metadata.json")))


def ctas(policy):
    set_namespace_policy("main.ctas", policy)
    name = f"ctas.{policy}"

    def create():
        with cat.create_table_transaction(name, SCHEMA) as txn:
            txn.append(rows(range(8)))
    if policy == "governed_only":
        text = refused(ForbiddenError, create, "governed_only")
        expect(cat.table_exists(name), False)
        return text
    create()
    t = cat.load_table(name)
    state = settled(f"main.{name}")
    expect((count(t), state["rowCount"], state["writePolicy"]), (8, 8, policy))
    expect([len(e) for e in reconciled(state["uuid"]).values()], [1])


steps.run("create namespace ctas", lambda: cat.create_namespace("ctas"))
for p in ("governed_only", "open_append", "open_full"):
    steps.run(f"create-table transaction under {p}", lambda p=p: ctas(p))
steps.run("create-table transaction without rows under governed_only", lambda: (set_namespace_policy("main.ctas", "governed_only"), cat.create_table_transaction(
    "ctas.empty", SCHEMA).commit_transaction(), expect(table("main.ctas.empty")["writePolicy"], "governed_only"))[2])


def conflict():
    cat.create_table("shop.race", SCHEMA).append(rows(range(2)))
    a, b = cat.load_table("shop.race"), cat.load_table("shop.race")
    a.append(rows([10]))
    try:
        b.append(rows([11]))
        landed = 4
    except CommitFailedException:
        landed = 3
    expect(count(cat.load_table("shop.race")), landed)
    expect(settled("main.shop.race")["rowCount"], landed)
    return f"{landed} rows"


steps.run("two writers from one base", conflict)


def expire():
    set_policy("main.shop.race", "open_append")
    t = cat.load_table("shop.race")
    time.sleep(0.05)
    refused(ForbiddenError, lambda: t.maintenance.expire_snapshots().older_than(dt.datetime.now()).commit(), "open_append")
    set_policy("main.shop.race", "open_full")
    t = cat.load_table("shop.race")
    before, n = len(t.metadata.snapshots), count(t)
    t.maintenance.expire_snapshots().older_than(dt.datetime.now()).commit()
    t = cat.load_table("shop.race")
    expect((len(t.metadata.snapshots), count(t)), (1, n))
    state = settled("main.shop.race")
    expect(state["rowCount"], n)
    expect([len(e) for e in reconciled(state["uuid"]).values()], [1] * before)
    return f"{before} -> 1 snapshots"


steps.run("expire snapshots", expire)
steps.run("tag and branch", lambda: (lambda t: (t.manage_snapshots().create_tag(t.current_snapshot().snapshot_id, "v1").create_branch(
    t.current_snapshot().snapshot_id, "audit").commit(), expect(sorted(cat.load_table("shop.race").refs()), ["audit", "main", "v1"]))[1])(cat.load_table("shop.race")))
steps.run("reserved properties at creation", lambda: refused(
    Exception, lambda: cat.create_table("shop.reserved", SCHEMA, properties={"sluice.write-policy": "open_full"}), "sluice."))
steps.run("a namespace with tables is kept", lambda: refused(NamespaceNotEmptyError, lambda: cat.drop_namespace("shop")))
steps.run("missing table", lambda: refused(NoSuchTableError, lambda: cat.load_table("shop.nope")))
steps.run("missing namespace", lambda: refused(NoSuchNamespaceError, lambda: cat.list_tables("nope")))
steps.run("create over a table", lambda: refused(TableAlreadyExistsError, lambda: cat.create_table("shop.race", SCHEMA)))


def remove():
    cat.drop_table("shop.race")
    cat.drop_table(("shop", "eu", "north", "events"))
    for namespace in (("shop", "eu", "north"), ("shop", "eu"), ("shop",)):
        cat.drop_namespace(namespace)
    for t in cat.list_tables("ctas"):
        cat.drop_table(t)
    cat.drop_namespace("ctas")
    left = [n for n in cat.list_namespaces() if n in (("shop",), ("ctas",))]
    return expect(left, [])


steps.run("drop everything", remove)
steps.run("default write policy of the catalog: governed_only", lambda: set_catalog_policy("governed_only"))
steps.finish()
