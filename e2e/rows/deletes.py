"""Delete files as engines commit them: PyIceberg writes none itself, but the manifests that take them."""
import random
import time
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestContent, ManifestEntry, ManifestEntryStatus, ManifestWriterV2, write_manifest_list
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update import AddSnapshotUpdate, AssertRefSnapshotId, AssertTableUUID, SetSnapshotRefUpdate
from pyiceberg.typedef import Record

PATH_ID, POSITION_ID = 2147483546, 2147483545


class DeleteManifest(ManifestWriterV2):
    """A manifest of delete files."""

    def content(self):
        return ManifestContent.DELETES

    @property
    def _meta(self):
        return {**super()._meta, "content": "deletes"}


def with_ids(batch, ids):
    fields = [field.with_metadata({"PARQUET:field_id": str(i)}).with_nullable(i not in (PATH_ID, POSITION_ID)) for field, i in zip(batch.schema, ids)]
    return pa.Table.from_arrays(batch.columns, schema=pa.schema(fields))


def delete_positions(table, rows):
    """Deletes rows by a list of (path of the data file, position). The bounds of the paths say which files it is for."""
    rows = sorted(rows)
    batch = pa.table({"file_path": pa.array([r[0] for r in rows], pa.string()), "pos": pa.array([r[1] for r in rows], pa.int64())})
    bounds = {"lower_bounds": {PATH_ID: rows[0][0].encode()}, "upper_bounds": {PATH_ID: rows[-1][0].encode()}}
    commit(table, DataFileContent.POSITION_DELETES, with_ids(batch, [PATH_ID, POSITION_ID]), **bounds)


def delete_equal(table, batch):
    """Deletes the rows that are equal to a row of the batch in all of its columns."""
    ids = [table.schema().find_field(name).field_id for name in batch.schema.names]
    commit(table, DataFileContent.EQUALITY_DELETES, with_ids(batch, ids), equality_ids=ids)


def commit(table, content, batch, **about):
    table.refresh()
    head, snapshot_id = table.current_snapshot(), random.getrandbits(62)
    folder = table.location()
    path = f"{folder}/data/delete-{uuid.uuid4()}.parquet"
    with table.io.new_output(path).create() as out:
        pq.write_table(batch, out)
    size = len(table.io.new_input(path))
    data_file = DataFile.from_args(
        content=content, file_path=path, file_format=FileFormat.PARQUET, partition=Record(), record_count=len(batch), file_size_in_bytes=size,
        _table_format_version=2, **about)
    data_file.spec_id = table.spec().spec_id
    manifest = f"{folder}/metadata/{uuid.uuid4()}-m0.avro"
    writer = DeleteManifest(table.spec(), table.schema(), table.io.new_output(manifest), snapshot_id, "deflate")
    with writer:
        writer.add(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=snapshot_id, data_file=data_file))
    sequence = table.metadata.last_sequence_number + 1
    manifest_list = f"{folder}/metadata/snap-{snapshot_id}-0-{uuid.uuid4()}.avro"
    with write_manifest_list(2, table.io.new_output(manifest_list), snapshot_id, head.snapshot_id, sequence, "deflate") as lists:
        lists.add_manifests([writer.to_manifest_file(), *head.manifests(table.io)])
    snapshot = Snapshot(
        snapshot_id=snapshot_id, parent_snapshot_id=head.snapshot_id, sequence_number=sequence, timestamp_ms=int(time.time() * 1000),
        manifest_list=manifest_list, summary=Summary(Operation.DELETE), schema_id=table.schema().schema_id)
    table.catalog.commit_table(
        table, (AssertTableUUID(uuid=table.metadata.table_uuid), AssertRefSnapshotId(ref="main", snapshot_id=head.snapshot_id)),
        (AddSnapshotUpdate(snapshot=snapshot), SetSnapshotRefUpdate(ref_name="main", type="branch", snapshot_id=snapshot_id)))
    table.refresh()
