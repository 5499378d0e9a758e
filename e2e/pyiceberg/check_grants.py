"""A principal that may write one namespace appends there and does nothing else, and loses that at once."""
import urllib.parse

from pyiceberg.exceptions import ForbiddenError, NoSuchNamespaceError, NoSuchTableError, RESTError

from data import SCHEMA, count, rows
from job import CATALOG_ROLE, PRINCIPAL, ROLE, admit, prepare, sluice
from product import BOOT, Refused, call, catalog, listing, refused, settled
from steps import Steps, expect

steps = Steps("grants")
steps.run("root prepares two namespaces", prepare, must=True)
root = catalog()
CLIENT = []
steps.run("the commands of the article", lambda: CLIENT.extend(admit()), must=True)
TOKEN_URI = BOOT["catalogUri"] + "/v1/oauth/tokens"


def login(scope="PRINCIPAL_ROLE:ALL"):
    return call("POST", TOKEN_URI, token=None, form={
        "grant_type": "client_credentials", "client_id": CLIENT[0], "client_secret": CLIENT[1], "scope": scope})["access_token"]


job = steps.run("the job connects", lambda: catalog(credential=":".join(CLIENT), scope="PRINCIPAL_ROLE:ALL"), must=True)
clicks = steps.run("load the table", lambda: job.load_table("events.clicks"), must=True)
for i in range(2):
    steps.run(f"append {i + 1}", lambda i=i: clicks.append(rows(range(i * 10, i * 10 + 10))))
steps.run("the rows are there and governed", lambda: expect((count(clicks), settled("main.events.clicks")["rowCount"]), (20, 20)))
steps.run("it sees its namespace alone", lambda: expect((job.list_namespaces(), job.list_tables("events")), ([("events",)], [("events", "clicks")])))

for what, fn, names in (
    ("create a table", lambda: job.create_table("events.more", SCHEMA), ("TABLE_CREATE", "events")),
    ("create a namespace", lambda: job.create_namespace("mine"), ("NAMESPACE_CREATE", "main")),
    ("drop the table", lambda: job.drop_table("events.clicks"), ("TABLE_DROP", "events.clicks")),
    ("purge the table", lambda: job.purge_table("events.clicks"), ("TABLE_DROP", "events.clicks")),
    ("rename the table", lambda: job.rename_table("events.clicks", "events.moved"), ("TABLE_DROP", "events.clicks")),
    ("drop the namespace", lambda: job.drop_namespace("events"), ("NAMESPACE_DROP", "events")),
    ("change the namespace", lambda: job.update_namespace_properties("events", updates={"a": "b"}), ("NAMESPACE_WRITE_PROPERTIES", "events")),
    ("add a column", lambda: clicks.update_schema().add_column("n", SCHEMA.find_type("id")).commit(), ("TABLE_ADD_SCHEMA", "events.clicks")),
    ("roll back", lambda: clicks.manage_snapshots().rollback_to_snapshot(clicks.metadata.snapshots[0].snapshot_id).commit(), ("open_append", "events.clicks")),
    ("overwrite", lambda: clicks.overwrite(rows(range(3))), ("open_append", "events.clicks")),
):
    steps.run(f"it may not {what}", lambda fn=fn, names=names: refused(ForbiddenError, fn, *names))
    clicks.refresh()

ANY = {"write-policy": {"policy": "open_full"}, "protection": {"protected": False}}
WIDE = login()


def http(method, url, body, *names):
    """A request with an access token of the principal, not of a job: the rights alone refuse it."""
    try:
        call(method, url, body, token=WIDE)
    except Refused as e:
        expect(e.code, 403)
        for name in names:
            if name not in e.text:
                raise AssertionError(f"the refusal does not name {name}: {e.text}")
        return e.text
    raise AssertionError("not refused")


TABLE = BOOT["catalogUri"] + "/v1/main/namespaces/events/tables/clicks"
GOVERNED = f"{BOOT['governanceUri']}/tables/" + urllib.parse.quote("main.events.clicks", safe="")
steps.run("it may not set the location", lambda: http(
    "POST", TABLE, {"requirements": [], "updates": [{"action": "set-location", "location": clicks.location() + "x"}]}, "TABLE_SET_LOCATION"))
for part, body in ANY.items():
    steps.run(f"it may not change the {part}", lambda part=part, body=body: http("PUT", f"{GOVERNED}/{part}", body, "CATALOG_MANAGE_ACCESS"))
for method, path, body in (
    ("GET", "/principals", None), ("POST", "/principals", {"principal": {"name": "mine"}}), ("GET", "/principal-roles", None),
    ("POST", "/catalogs", {"catalog": {"name": "x", "type": "INTERNAL", "properties": {"default-base-location": "file:///x"}, "storageConfigInfo": {"storageType": "FILE"}}}),
    ("PUT", f"/principals/{PRINCIPAL}/principal-roles", {"principalRole": {"name": "service_admin"}}),
):
    steps.run(f"it may not {method} {path}", lambda method=method, path=path, body=body: http(method, BOOT["managementUri"] + path, body, "SERVICE_MANAGE_ACCESS"))
for method, path, body in (
    ("GET", "/catalogs/main/catalog-roles", None),
    ("PUT", f"/catalogs/main/catalog-roles/{CATALOG_ROLE}/grants", {"grant": {"type": "catalog", "privilege": "TABLE_DROP"}}),
):
    steps.run(f"it may not {method} {path}", lambda method=method, path=path, body=body: http(method, BOOT["managementUri"] + path, body, "CATALOG_MANAGE_ACCESS"))
steps.run("another namespace does not exist for it", lambda: (
    refused(NoSuchTableError, lambda: job.load_table("billing.clicks")), refused(NoSuchNamespaceError, lambda: job.list_tables("billing")))[0])
steps.run("nothing changed", lambda: (clicks.refresh(), expect((count(clicks), root.list_tables("events")), (20, [("events", "clicks")])))[1])


def denials():
    events = listing("/audit", type="request.denied", principal=PRINCIPAL)
    reasons = [e["reason"] for e in events]
    for word in ("TABLE_CREATE", "TABLE_DROP", "NAMESPACE_DROP", "SERVICE_MANAGE_ACCESS", "CATALOG_MANAGE_ACCESS", "billing"):
        if not any(word in r for r in reasons):
            raise AssertionError(f"no denial in the audit tells of {word}: {reasons}")
    expect([e["allowed"] for e in events], [False] * len(events))
    return f"{len(events)} events"


steps.run("each refusal is in the audit with its reason", denials)


def explains():
    yes = sluice("can", PRINCIPAL, "TABLE_READ_DATA", "main.events.clicks")
    expect((yes["allowed"], yes["ways"][0]["catalogRole"], yes["ways"][0]["grant"]["privilege"]), (True, CATALOG_ROLE, "TABLE_WRITE_DATA"))


steps.run("sluice can explains why", explains)
narrow = login(f"PRINCIPAL_ROLE:{ROLE}")
steps.run("a scope of one role works", lambda: call("GET", TABLE, token=narrow)["metadata-location"])
steps.run("the role is revoked", lambda: sluice("principal-roles", "revoke", "--principal", PRINCIPAL, ROLE))


def gone():
    for token in (WIDE, narrow):
        try:
            call("GET", TABLE, token=token)
        except Refused as e:
            expect(e.code, 404)
        else:
            raise AssertionError("a token of before the revocation still opens the table")
    refused((ForbiddenError, NoSuchTableError, RESTError), lambda: clicks.append(rows(range(5))), PRINCIPAL)


steps.run("and the very next requests have no right", gone)
steps.finish()
