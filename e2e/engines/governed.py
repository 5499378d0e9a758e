"""The data plane as engines' checks use it: rows are written and read there, and held against what an engine reads."""
import base64
import datetime
import json
import struct
import urllib.parse
import urllib.request
from decimal import Decimal

from product import BOOT, call, namespace_uri, settled

ROOT = BOOT["catalogUri"].removesuffix("/api/catalog")
UTC = datetime.timezone.utc


def ref(namespace, name):
    return f"{BOOT['catalog']}.{namespace}.{name}"


def rows_uri(table, what):
    return f"{ROOT}/data/v1/tables/{urllib.parse.quote(table)}/{what}"


def write(table, rows, mode="append"):
    """A governed write of rows as JSON has them."""
    return call("POST", rows_uri(table, "write") + f"?mode={mode}", rows)


def query(table, **asked):
    """The rows of a governed query, as texts that are the same for the same values, and the answer's schema."""
    answer = call("POST", rows_uri(table, "query"), {k.replace("_", "-"): v for k, v in asked.items()})
    return comparable(answer["rows"], answer["schema"]["fields"]), answer["schema"]["fields"]


def comparable(rows, fields):
    """Rows of whoever read them, in an order of their own, as texts that are the same for the same values."""
    return sorted(json.dumps(plain(r, {"type": "struct", "fields": fields}), sort_keys=True) for r in rows)


def plain(value, of):
    """A value of an Iceberg type, from JSON or as Spark or DuckDB give it to Python."""
    if value is None:
        return None
    if isinstance(of, dict):
        return nested(value, of)
    if of in ("int", "long"):
        return int(value)
    if of == "float":
        return repr(struct.unpack("f", struct.pack("f", float(value)))[0])
    if of == "double":
        return repr(float(value))
    if of.startswith("decimal"):
        return f"{Decimal(value):f}"
    if of.startswith(("fixed", "binary")):
        return base64.b64encode(base64.b64decode(value) if isinstance(value, str) else bytes(value)).decode()
    if of.startswith(("timestamp", "time")):
        return moment(value, of)
    return value if of == "boolean" else str(value)


def nested(value, of):
    if of["type"] == "struct":
        members = value if isinstance(value, dict) else value.asDict()
        return {f["name"]: plain(members[f["name"]], f["type"]) for f in of["fields"]}
    if of["type"] == "list":
        return [plain(v, of["element"]) for v in value]
    pairs = value.items() if isinstance(value, dict) else [(e["key"], e["value"]) for e in value]
    return sorted(([plain(k, of["key"]), plain(v, of["value"])] for k, v in pairs), key=json.dumps)


def moment(value, of):
    """A time without what is nothing: its zeros at the end, and its offset, which is UTC."""
    if isinstance(value, datetime.datetime) and value.tzinfo:
        value = value.astimezone(UTC).replace(tzinfo=None)
    text = value if isinstance(value, str) else value.isoformat()
    text = text.replace(" ", "T").removesuffix("Z").removesuffix("+00:00").removesuffix("+00")
    return text.rstrip("0").rstrip(".") if "." in text else text


def same(got, want, who):
    """Fails unless the two lists of comparable rows are equal, and says how many there are."""
    if got != want:
        only, missing = sorted(set(got) - set(want)), sorted(set(want) - set(got))
        raise AssertionError(f"{who}: {len(got)} rows for {len(want)}; it has {only[:2]}, and lacks {missing[:2]}")
    return len(want)


def counted(table, rows):
    """The count of rows that reconciliation recorded must be the engine's."""
    found = settled(table, 180)
    if found["rowCount"] != rows:
        raise AssertionError(f"{table}: {found['rowCount']} rows recorded, the engine has {rows}")


class Ids:
    """Numbers the fields of a schema."""

    def __init__(self):
        self.last = 0

    def next(self):
        self.last += 1
        return self.last

    def typed(self, of):
        """A type: its name, a list of (name, type) for a struct, ("list", type) or ("map", key, value)."""
        if isinstance(of, str):
            return of
        if isinstance(of, list):
            ids = [self.next() for _ in of]
            return {"type": "struct", "fields": [
                {"id": i, "name": name, "type": self.typed(t), "required": False} for i, (name, t) in zip(ids, of)]}
        if of[0] == "list":
            return {"type": "list", "element-id": self.next(), "element": self.typed(of[1]), "element-required": False}
        return {"type": "map", "key-id": self.next(), "key": self.typed(of[1]), "value-id": self.next(), "value": self.typed(of[2]), "value-required": False}


def create(namespace, name, version, columns, partitions=()):
    """Makes a table whose first column is its identifier; partitions are (column, transform)."""
    schema = {**Ids().typed(columns), "schema-id": 0}
    first = schema["fields"][0]
    first["required"], schema["identifier-field-ids"] = True, [first["id"]]
    ids = {f["name"]: f["id"] for f in schema["fields"]}
    spec = {"spec-id": 0, "fields": [
        {"source-id": ids[c], "field-id": 1000 + i, "transform": t, "name": c if t == "identity" else f"{c}_{t.split('[')[0]}"}
        for i, (c, t) in enumerate(partitions)]}
    call("POST", f"{namespace_uri(namespace)}/tables", {
        "name": name, "schema": schema, "partition-spec": spec, "properties": {
            "format-version": str(version), **{f"write.{w}.mode": "merge-on-read" for w in ("delete", "update", "merge") if version > 1}}})
    return ref(namespace, name)
