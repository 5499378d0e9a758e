"""A running sluice as scripts see it: bootstrap.json, the governance API, and PyIceberg catalogs on it."""
import datetime
import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import warnings

warnings.filterwarnings("ignore")

with open(os.path.join(os.environ["SLUICE_DATA"], "bootstrap.json")) as f:
    BOOT = json.load(f)


class Refused(Exception):
    """An HTTP answer other than 2xx."""

    def __init__(self, code, text):
        super().__init__(f"HTTP {code}: {text}")
        self.code, self.text = code, text


def call(method, url, body=None, token=BOOT["token"], form=None):
    data = urllib.parse.urlencode(form).encode() if form else json.dumps(body).encode() if body is not None else None
    req = urllib.request.Request(url, data=data, method=method)
    if token:
        req.add_header("Authorization", f"Bearer {token}")
    if not form:
        req.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(req, timeout=30) as resp:
            raw = resp.read()
            return json.loads(raw) if raw else None
    except urllib.error.HTTPError as e:
        raise Refused(e.code, e.read().decode(errors="replace")) from None


def governance(method, path, body=None, **query):
    query = {k: v for k, v in query.items() if v is not None}
    return call(method, BOOT["governanceUri"] + path + ("?" + urllib.parse.urlencode(query) if query else ""), body)


def listing(path, **query):
    """All pages of a governance list."""
    items, after = [], None
    while True:
        page = governance("GET", path, limit=500, after=after, **query)
        items += page["items"]
        after = page.get("next")
        if not after or not page["items"]:
            return items


def quoted(ref):
    return urllib.parse.quote(ref, safe="")


def table(ref):
    return governance("GET", f"/tables/{quoted(ref)}")


def set_policy(ref, policy):
    return governance("PUT", f"/tables/{quoted(ref)}/write-policy", {"policy": policy})


def set_catalog_policy(policy):
    return governance("PUT", f"/catalogs/{BOOT['catalog']}/default-write-policy", {"policy": policy})


def set_namespace_policy(ref, policy):
    return governance("PUT", f"/namespaces/{quoted(ref)}/default-write-policy", {"policy": policy})


def mint(can_write, expires_in="48h"):
    return governance("POST", "/tokens", {"catalog": BOOT["catalog"], "canWrite": can_write, "expiresIn": expires_in})


def catalog(token=None, **more):
    """A PyIceberg catalog with an engine token, root's own by default, or with a credential."""
    from pyiceberg.catalog import load_catalog  # here, because other engines' checks use this file without PyIceberg

    from connection import properties
    props = properties("pyiceberg", token or BOOT["token"])
    if "credential" in more:
        del props["token"]
    props.update(more)
    return load_catalog("sluice", **props)


def wait(what, ready, within=30):
    """Polls until ready gives a true value."""
    end = time.time() + within
    while True:
        value = ready()
        if value:
            return value
        if time.time() > end:
            raise AssertionError(f"{what}: not within {within} s")
        time.sleep(0.1)


def settled(ref, within=30):
    """The governance view of a table once all its commits are reconciled."""
    def ready():
        t = table(ref)
        return t if t["pendingCommits"] == 0 and t["currentSnapshotId"] == t["recordedSnapshotId"] else None
    return wait(f"reconciliation of {ref}", ready, within)


def reconciled(uuid):
    """The reconciled events of a table by snapshot id."""
    events = {}
    for e in listing("/audit", type="table.external_commit_reconciled", table=uuid):
        events.setdefault(e["snapshotId"], []).append(e)
    return events


def commits(ref):
    """How many commits the ledger has of a table."""
    return len(listing("/commits", table=table(ref)["uuid"]))


def findings(ref=None, **query):
    """Every finding that is or was open, newest first, of one table or of all."""
    return listing("/findings", table=ref and table(ref)["uuid"], **query)


def moment(text):
    """A time of an answer; Python reads six decimals and no more."""
    return datetime.datetime.fromisoformat(re.sub(r"(\.\d{1,6})\d*", lambda m: m[1].ljust(7, "0"), text).replace("Z", "+00:00"))


def troubles(ref=None):
    """The findings that healthy work does not explain: a stream that was dead for longer than it may be silent was late indeed."""
    made = listing("/commits", table=ref and table(ref)["uuid"])

    def silent(f):
        last, due = (moment(f["evidence"][k]) for k in ("lastCommitAt", "dueAt"))
        return not any(c.get("writerId") == f["writerId"] and last < moment(c["committedAt"]) <= due for c in made)
    return [f for f in findings(ref) if f["kind"] != "stalled_writer" or not silent(f)]


def governed(ref, within=120):
    """Checks that every commit of a table is reconciled, each with one event. It gives the table and how many there are."""
    found = settled(ref, within)
    made = [c["snapshotId"] for c in listing("/commits", table=found["uuid"])]
    events = reconciled(found["uuid"])
    odd = {s: len(events.get(s, [])) for s in {*made, *events} if len(events.get(s, [])) != 1}
    if odd or len(set(made)) != len(made) or set(made) != set(events):
        raise AssertionError(f"{len(made)} commits, {len(events)} with events; not one event each: {odd}")
    return found, len(made)


def namespace_uri(namespace=None):
    base = f"{BOOT['catalogUri']}/v1/{BOOT['catalog']}/namespaces"
    return f"{base}/{quoted(namespace)}" if namespace else base


def create_table(namespace, name, *fields, key=()):
    """Makes a table of fields such as ("id", "long"), of which those of the key are required."""
    schema = {"type": "struct", "schema-id": 0, "identifier-field-ids": [i + 1 for i, f in enumerate(fields) if f[0] in key], "fields": [
        {"id": i + 1, "name": f[0], "type": f[1], "required": f[0] in key} for i, f in enumerate(fields)]}
    call("POST", f"{namespace_uri(namespace)}/tables", {"name": name, "schema": schema})


def tables_of(namespace):
    return [t["name"] for t in call("GET", f"{namespace_uri(namespace)}/tables")["identifiers"]]


def all_governed(namespace, within=120):
    """Checks the same of all tables of a namespace, and that engines came to their files in the mode that is tested and in no other."""
    refs = [f"{BOOT['catalog']}.{namespace}.{name}" for name in tables_of(namespace)]
    found = [governed(ref, within) for ref in refs]
    ways = {a["mode"] for t, _ in found for a in listing("/storage-access", table=t["uuid"])}
    want = {"vended-credentials": {"vended"}, "remote-signing": {"signed"}, "none": set()}[os.environ["DELEGATION"]]
    if ways != want:
        raise AssertionError(f"files were reached by {ways}, not by {want}")
    return f"{sum(n for _, n in found)} commits of {len(refs)} tables, one event each, none pending{', files ' if ways else ''}{', '.join(ways)}"


def drop_all(namespace):
    for name in tables_of(namespace):
        call("DELETE", f"{namespace_uri(namespace)}/tables/{quoted(name)}")
    call("DELETE", namespace_uri(namespace))


def refused(error, fn, *words):
    """Runs fn, which must raise error with all the words in its text."""
    try:
        fn()
    except error as e:
        missing = [w for w in words if w not in str(e)]
        if missing:
            raise AssertionError(f"the refusal does not name {missing}: {e}") from None
        return " ".join(str(e).split())[:160]
    raise AssertionError(f"not refused with {error}")
