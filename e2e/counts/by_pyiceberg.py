"""PyIceberg's writes, counted."""
from counted import ref, snapshots
from data import BY_DAY, SCHEMA, rows
from pyiceberg.expressions import EqualTo, GreaterThanOrEqual, LessThan
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.transforms import IdentityTransform
from product import catalog, drop_all
from steps import Steps

NS = "counts_pyiceberg"
BY_STATUS = PartitionSpec(PartitionField(source_id=2, field_id=1000, transform=IdentityTransform(), name="status"))
steps = Steps("pyiceberg")
cat = steps.run("connect", catalog, must=True)
steps.run("create namespace", lambda: cat.create_namespace(NS) and None, must=True)


def written(name, version, spec):
    t = cat.create_table(f"{NS}.{name}", SCHEMA, partition_spec=spec, properties={"format-version": str(version)})
    t.append(rows(range(200)))
    t.append(rows(range(200, 300)))
    t.delete(LessThan("id", 30))  # rewrites a file, or drops whole ones
    t.delete(EqualTo("id", 250))
    t.overwrite(rows(range(1000, 1050)), overwrite_filter=GreaterThanOrEqual("id", 240))
    t.upsert(rows(range(1040, 1080), status="upserted"), join_cols=["id"])
    if spec is BY_STATUS:
        t.dynamic_partition_overwrite(rows(range(100, 130), status="replaced"))
    with t.transaction() as work:
        work.append(rows(range(2000, 2010)))
        work.delete(EqualTo("id", 40))
    t.delete("id > 100000")
    t.overwrite(rows(range(500)))
    t.append(rows(range(500, 520)))


def counted(name):
    t = cat.load_table(f"{NS}.{name}")
    kept = {str(s.snapshot_id) for s in t.metadata.snapshots}
    return snapshots(ref(NS, name), t.scan().count(),
                     lambda s: t.scan(snapshot_id=int(s)).to_arrow().num_rows if s in kept else None)


for version in (1, 2):
    for kind, spec in (("plain", UNPARTITIONED_PARTITION_SPEC), ("by_day", BY_DAY), ("by_status", BY_STATUS)):
        name = f"v{version}_{kind}"
        steps.run(f"{name}: written", lambda: written(name, version, spec))
        steps.run(f"{name}: counted", lambda: counted(name))
steps.run("drop everything", lambda: drop_all(NS))
steps.finish()
