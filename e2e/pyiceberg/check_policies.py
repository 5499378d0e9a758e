"""What each write policy lets PyIceberg do, and that every commit it lets through is governed exactly once."""
from pyiceberg.exceptions import ForbiddenError
from pyiceberg.types import StringType

from data import SCHEMA, count, rows
from product import catalog, governance, listing, mint, reconciled, refused, set_policy, settled, table
from steps import Steps, expect

steps = Steps("policies")
NS, NAME = "policies", "orders"
REF = f"main.{NS}.{NAME}"
cat = catalog(mint(True)["token"])
steps.run("create namespace", lambda: cat.create_namespace(NS), must=True)
t = steps.run("create table", lambda: cat.create_table(f"{NS}.{NAME}", SCHEMA), must=True)
policy = table(REF)["writePolicy"]
steps.run("a new table is governed_only", lambda: expect(policy, "governed_only"))


def closed():
    """governed_only: nothing from outside."""
    names = (f"{NS}.{NAME}", "governed_only")
    for what, fn in (
        ("append", lambda: t.append(rows(range(5)))),
        ("properties", lambda: t.transaction().set_properties({"owner": "me"}).commit_transaction()),
        ("schema change", lambda: t.update_schema().add_column("note", StringType()).commit()),
    ):
        steps.run(f"governed_only: {what} is refused", lambda fn=fn: refused(ForbiddenError, fn, *names))
    t.refresh()
    steps.run("governed_only: nothing changed", lambda: expect(
        (t.current_snapshot(), t.schema().column_names, t.properties.get("owner")), (None, ["id", "status", "ts"], None)))
    steps.run("governed_only: the refusals are in the audit", lambda: expect(
        [e["allowed"] for e in listing("/audit", type="table.commit_denied", table=table(REF)["uuid"])], [False] * 3))


def open_append():
    """open_append: appends and additive changes, nothing that removes."""
    names = (f"{NS}.{NAME}", "open_append")
    for i in range(4):
        steps.run(f"open_append: append {i + 1}", lambda i=i: t.append(rows(range(i * 25, (i + 1) * 25))))
    steps.run("open_append: add an optional column", lambda: t.update_schema().add_column("note", StringType()).commit())
    steps.run("open_append: append after the schema change", lambda: t.append(rows(range(100, 110))))
    steps.run("open_append: read back", lambda: expect(count(cat.load_table(f"{NS}.{NAME}")), 110))
    steps.run("open_append: filtered read", lambda: expect(
        t.scan(row_filter="id >= 100", selected_fields=("id", "note")).to_arrow().to_pydict(),
        {"id": list(range(100, 110)), "note": [None] * 10}))
    for what, fn in (
        ("overwrite", lambda: t.overwrite(rows(range(3)))),
        ("overwrite by filter", lambda: t.overwrite(rows(range(3)), overwrite_filter="id < 30")),
        ("delete rows of a file", lambda: t.delete("id < 10")),
        ("delete a whole file", lambda: t.delete("id < 25")),
        ("drop a column", lambda: t.update_schema().delete_column("status").commit()),
        ("rename a column", lambda: t.update_schema().rename_column("status", "state").commit()),
        ("roll back", lambda: t.manage_snapshots().rollback_to_snapshot(t.metadata.snapshots[0].snapshot_id).commit()),
        ("move the data folder", lambda: t.transaction().set_properties({"write.data.path": t.location() + "/elsewhere"}).commit_transaction()),
    ):
        steps.run(f"open_append: {what} is refused", lambda fn=fn: refused(ForbiddenError, fn, *names))
        t.refresh()
    steps.run("open_append: all rows are still there", lambda: expect(count(cat.load_table(f"{NS}.{NAME}")), 110))


def governed(operations):
    """One event per snapshot, with the numbers that PyIceberg sees."""
    after, state = count(cat.load_table(f"{NS}.{NAME}")), settled(REF)
    expect(state["rowCount"], after)
    events = reconciled(state["uuid"])
    expect(sorted(len(e) for e in events.values()), [1] * len(operations))
    t.refresh()
    running = 0
    for snapshot, (operation, delta) in zip(t.metadata.snapshots, operations):
        d = events[str(snapshot.snapshot_id)][0]["details"]
        added = int(snapshot.summary.get("added-records") or 0)
        expect((d["operation"], d["rowCountBefore"], d["rowCountAfter"], d["exact"]), (operation, running, running + delta, True))
        expect((d["rows"], d["files"]), (added, int(snapshot.summary.get("added-data-files") or 0)))
        expect(d["writer"]["engine"], "pyiceberg")
        running += delta
    return f"{len(operations)} events, {after} rows"


def open_full():
    steps.run("open_full: delete", lambda: (t.delete("id < 10"), expect(count(t), 100))[1])
    steps.run("open_full: overwrite by filter", lambda: (t.overwrite(rows(range(500, 503)), overwrite_filter="id >= 100"), expect(count(t), 93))[1])
    steps.run("open_full: overwrite", lambda: (t.overwrite(rows(range(7))), expect(count(t), 7))[1])
    steps.run("open_full: drop a column", lambda: t.update_schema().delete_column("note").commit())
    steps.run("open_full: reserved properties stay refused", lambda: refused(
        ForbiddenError, lambda: t.transaction().set_properties({"sluice.write-policy": "mine"}).commit_transaction(), "sluice."))
    t.refresh()


def counts_match():
    state = settled(REF)
    expect(state["rowCount"], count(cat.load_table(f"{NS}.{NAME}")))
    events = reconciled(state["uuid"])
    ids = [str(s.snapshot_id) for s in cat.load_table(f"{NS}.{NAME}").metadata.snapshots]
    expect({i: len(events.get(i, [])) for i in ids}, {i: 1 for i in ids})
    by_snapshot = {e["details"]["snapshot"]: e["details"] for es in events.values() for e in es}
    expect(by_snapshot[ids[-1]]["rowCountAfter"], state["rowCount"])
    return f"{len(ids)} snapshots, {state['rowCount']} rows"


closed()
steps.run("set open_append", lambda: expect(set_policy(REF, "open_append")["writePolicy"], "open_append"))
t.refresh()
open_append()
steps.run("each append has one event with the right numbers", lambda: governed([("append", 25)] * 4 + [("append", 10)]))
steps.run("set open_full", lambda: expect(set_policy(REF, "open_full")["writePolicy"], "open_full"))
t.refresh()
open_full()
steps.run("each commit has one event and the counts agree", counts_match)
steps.run("the ledger has one row per snapshot", lambda: expect(
    sorted(int(c["snapshotId"]) for c in listing("/commits", table=REF)),
    sorted(s.snapshot_id for s in cat.load_table(f"{NS}.{NAME}").metadata.snapshots)))
steps.run("set governed_only again", lambda: set_policy(REF, "governed_only"))
steps.run("governed_only: append is refused again", lambda: refused(ForbiddenError, lambda: t.append(rows([1])), "governed_only"))
steps.run("reconcile now", lambda: governance("POST", f"/tables/{REF}/reconcile")["workflowId"])
steps.finish()
