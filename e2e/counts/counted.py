"""Holds what Sluice counted against what an engine counts."""
from product import BOOT, listing, settled


def ref(namespace, name):
    return f"{BOOT['catalog']}.{namespace}.{name}"


def total(name, rows):
    """The row count of a table, once all its commits are reconciled, must be the engine's."""
    found = settled(name, 180)
    if found["rowCount"] != rows:
        raise AssertionError(f"{name}: {found['rowCount']} rows counted, the engine has {rows}")
    return found


def ledger(uuid):
    """What the ledger says of a table's commits by snapshot id."""
    return {c["snapshotId"]: c for c in listing("/commits", table=uuid)}


def honest(uuid):
    """A healthy writer is not said to claim wrong numbers."""
    found = listing("/findings", table=uuid, kind="summary_mismatch")
    if found:
        raise AssertionError(f"{len(found)} summary_mismatch: {found[0]}")


def snapshots(name, rows, rows_at):
    """The same for every snapshot: rows_at gives the engine's count of one, None for one that it does not read."""
    found = total(name, rows)
    commits = ledger(found["uuid"])
    wrong, counted = [], 0
    for snapshot, commit in commits.items():
        at = rows_at(snapshot)
        if at is None:
            continue
        counted += 1
        if commit.get("rowCountAfter") != at:
            wrong.append(f"{snapshot} ({commit['operation']}): {commit.get('rowCountAfter')} counted, {at} read")
    if wrong or not counted:
        raise AssertionError(f"{name}: {len(wrong)} of {counted} snapshots: {'; '.join(wrong[:5])}")
    honest(found["uuid"])
    return f"{rows} rows, {counted} snapshots"
