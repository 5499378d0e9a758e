"""Types commands of Apache Polaris's command line and checks what they print. run.sh sets the environment."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

BASE = os.environ["MANAGEMENT_URI"].removesuffix("/api/management/v1")
ROOT = os.environ["CREDENTIAL"].split(":", 1)
WAREHOUSE = os.environ["LOCATION"]
failures = 0


def polaris(*args, who=ROOT):
    """Runs a command; gives its exit code, what it printed, and what it said on the side."""
    done = subprocess.run(
        [os.environ["POLARIS"], "--base-url", BASE, "--client-id", who[0], "--client-secret", who[1], *args],
        capture_output=True, text=True, timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def check(what, ok, detail=""):
    global failures
    failures += not ok
    print(("PASS" if ok else "FAIL"), what, "" if ok else "\n" + str(detail).strip()[-1500:])


def works(*args, who=ROOT, says=()):
    """A command that is to succeed and print each of some texts; gives what it printed."""
    code, out, err = polaris(*args, who=who)
    missing = [text for text in says if text not in out + err]
    check("polaris " + " ".join(args), code == 0 and not missing, f"exit {code}, missing {missing}\n{out}\n{err}")
    return out


def refused(*args, who=ROOT, says=()):
    """A command that is to fail, and to say why."""
    code, out, err = polaris(*args, who=who)
    missing = [text for text in says if text not in out + err]
    check("refused: polaris " + " ".join(args), code != 0 and not missing, f"exit {code}, missing {missing}\n{out}\n{err}")


def rows(out):
    """The JSON objects that a list prints, one a line, by name."""
    return {row["name"]: row for row in map(json.loads, out.splitlines())}


def credentials(out):
    keys = json.loads(out or "{}")
    return [keys.get("clientId", ""), keys.get("clientSecret", "")]


def token(who):
    form = f"grant_type=client_credentials&client_id={who[0]}&client_secret={who[1]}&scope=PRINCIPAL_ROLE:ALL"
    request = urllib.request.Request(f"{BASE}/api/catalog/v1/oauth/tokens", form.encode())
    return json.load(urllib.request.urlopen(request, timeout=30))["access_token"]


def send(method, path, body=None, who=ROOT):
    """A request of an engine; gives the status."""
    request = urllib.request.Request(
        f"{BASE}/api/catalog/v1/{path}", json.dumps(body).encode() if body is not None else None, method=method,
        headers={"Authorization": "Bearer " + token(who), "Content-Type": "application/json"},
    )
    try:
        return urllib.request.urlopen(request, timeout=30).status
    except urllib.error.HTTPError as e:
        return e.code


def catalogs():
    base = f"{WAREHOUSE}/lake"
    works("catalogs", "create", "lake", "--type", "internal", "--storage-type", "file", "--default-base-location", base,
          "--property", "team=data")
    lake = rows(works("catalogs", "list"))["lake"]
    check("a catalog as Polaris shows it", lake["type"] == "INTERNAL" and lake["entityVersion"] == 1
          and lake["properties"] == {"default-base-location": base, "team": "data"}
          and lake["storageConfigInfo"]["storageType"] == "FILE"
          and lake["storageConfigInfo"]["allowedLocations"] == [base], lake)
    works("catalogs", "update", "lake", "--set-property", "tier=gold", "--remove-property", "team")
    works("catalogs", "update", "lake", "--allowed-location", f"{WAREHOUSE}/lake-more")
    got = json.loads(works("catalogs", "get", "lake"))
    check("an updated catalog", got["properties"] == {"default-base-location": base, "tier": "gold"}
          and got["storageConfigInfo"]["allowedLocations"] == [base, f"{WAREHOUSE}/lake-more"]
          and got["entityVersion"] == 3 and got["lastUpdateTimestamp"] >= got["createTimestamp"], got)
    refused("catalogs", "create", "lake", "--type", "internal", "--storage-type", "file",
            "--default-base-location", f"{WAREHOUSE}/lake2", says=["already"])
    refused("catalogs", "create", "outside", "--type", "internal", "--storage-type", "file",
            "--default-base-location", "file:///etc/lake")
    refused("catalogs", "create", "system$x", "--type", "internal", "--storage-type", "file",
            "--default-base-location", f"{WAREHOUSE}/x")
    refused("catalogs", "get", "nowhere", says=["nowhere"])


def principals():
    etl = credentials(works("principals", "create", "etl", "--property", "team=data"))
    row = json.loads(works("principals", "get", "etl"))
    check("a principal as Polaris shows it", row["clientId"] == etl[0] and row["properties"] == {"team": "data"}
          and "clientSecret" not in json.dumps(row), row)
    works("principals", "update", "etl", "--set-property", "tier=gold", "--remove-property", "team")
    check("an updated principal", json.loads(works("principals", "get", "etl"))["properties"] == {"tier": "gold"})
    check("principals listed", {"etl", "root"} <= set(rows(works("principals", "list"))))

    rotated = credentials(works("principals", "rotate-credentials", "etl", who=etl))
    check("rotation gives a new secret", rotated[0] == etl[0] and rotated[1] != etl[1])
    works("principals", "get", "etl", who=rotated)
    works("principals", "get", "etl", who=etl)  # the secret before stays good for a while
    refused("principals", "rotate-credentials", "root", who=rotated)
    reset = credentials(works("principals", "reset", "etl"))
    refused("principals", "get", "etl", who=rotated)
    refused("principals", "get", "etl", who=etl)
    works("principals", "get", "etl", who=reset)
    own = ["etl-1", "a-secret-of-at-least-32-characters-length"]
    works("principals", "reset", "etl", "--new-client-id", own[0], "--new-client-secret", own[1])
    works("principals", "get", "etl", who=own)
    return own


def roles():
    works("principal-roles", "create", "writers", "--property", "team=data")
    works("principal-roles", "update", "writers", "--set-property", "tier=gold")
    got = json.loads(works("principal-roles", "get", "writers"))
    check("a principal role", got["properties"] == {"team": "data", "tier": "gold"} and got["federated"] is False, got)
    works("principal-roles", "grant", "--principal", "etl", "writers")
    check("roles of a principal", set(rows(works("principal-roles", "list", "--principal", "etl"))) == {"writers"})

    works("catalog-roles", "create", "--catalog", "lake", "--property", "a=b", "ingest")
    works("catalog-roles", "update", "--catalog", "lake", "--set-property", "c=d", "ingest")
    got = json.loads(works("catalog-roles", "get", "--catalog", "lake", "ingest"))
    check("a catalog role", got["properties"] == {"a": "b", "c": "d"} and got["entityVersion"] == 2, got)
    check("catalog roles", {"ingest", "catalog_admin"} <= set(rows(works("catalog-roles", "list", "lake"))))
    works("catalog-roles", "grant", "--catalog", "lake", "--principal-role", "writers", "ingest")
    check("catalog roles of a principal role",
          set(rows(works("catalog-roles", "list", "lake", "--principal-role", "writers"))) == {"ingest"})
    # Before there are grants: release 1.8.0 of the command fails by itself on those of catalogs and tables.
    works("catalog-roles", "summarize", "--catalog", "lake", "ingest", says=["No grants found"])
    refused("principal-roles", "delete", "service_admin")
    refused("catalog-roles", "delete", "--catalog", "lake", "catalog_admin")


def grants():
    on = ["--catalog", "lake", "--catalog-role", "ingest"]
    works("privileges", "catalog", "grant", *on, "NAMESPACE_LIST")
    works("privileges", "namespace", "grant", *on, "--namespace", "events.eu", "TABLE_WRITE_DATA")
    works("privileges", "table", "grant", *on, "--namespace", "events.eu", "--table", "clicks", "TABLE_DROP")
    works("privileges", "view", "grant", *on, "--namespace", "events.eu", "--view", "daily", "VIEW_LIST")
    listed = [json.loads(line) for line in works("privileges", "list", *on).splitlines()]
    place = {"namespace": ["events", "eu"]}
    for grant in [{"type": "catalog", "privilege": "NAMESPACE_LIST"},
                  {"type": "namespace", **place, "privilege": "TABLE_WRITE_DATA"},
                  {"type": "table", **place, "tableName": "clicks", "privilege": "TABLE_DROP"},
                  {"type": "view", **place, "viewName": "daily", "privilege": "VIEW_LIST"}]:
        check(f"listed: {grant}", grant in listed, listed)
    check("listed: nothing else", len(listed) == 4, listed)
    works("privileges", "list", "--catalog", "lake", "--catalog-role", "catalog_admin", says=["CATALOG_MANAGE_ACCESS"])
    refused("privileges", "table", "grant", *on, "--namespace", "events.eu", "--table", "nothing", "TABLE_DROP", says=["nothing"])
    return on


def main():
    catalogs()
    etl = principals()
    roles()
    works("namespaces", "create", "--catalog", "lake", "events")
    works("namespaces", "create", "--catalog", "lake", "events.eu", "--property", "a=b")
    works("namespaces", "list", "--catalog", "lake", says=["events"])
    works("namespaces", "list", "--catalog", "lake", "--parent", "events", says=["eu"])
    schema = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}]}
    check("a table is made", send("POST", "lake/namespaces/events%1Feu/tables", {"name": "clicks", "schema": schema}) == 200)
    check("a view is made", send("POST", "lake/namespaces/events%1Feu/views", {
        "name": "daily", "schema": schema, "properties": {}, "view-version": {
            "version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": ["events"],
            "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}]}}) == 200)
    on = grants()

    works("tables", "list", "--catalog", "lake", "--namespace", "events.eu", says=["clicks"], who=etl)
    works("tables", "get", "--catalog", "lake", "--namespace", "events.eu", "clicks", says=["clicks"], who=etl)
    works("tables", "summarize", "--catalog", "lake", "--namespace", "events.eu", "clicks", says=["clicks"])
    works("views", "list", "--catalog", "lake", "--namespace", "events.eu", says=["daily"])
    works("find", "clicks", says=["events.eu.clicks", "Found 1 match"])
    works("find", "--catalog", "lake", "ingest", says=["ingest"])
    works("catalogs", "summarize", "lake", says=["FILE", "Namespaces:"])
    works("namespaces", "summarize", "--catalog", "lake", "events.eu", says=["events.eu"])
    works("principals", "summarize", "etl", says=["writers", "lake"])
    works("principal-roles", "summarize", "writers", says=["etl"])
    access = json.loads(works("principals", "access", "etl"))
    check("a principal's access", [r["name"] for r in access["principal_roles"]] == ["writers"]
          and len(access["principal_roles"][0]["catalog_roles"][0]["privileges"]) == 4, access)
    works("principals", "access", "root")

    clicks = "lake/namespaces/events%1Feu/tables/clicks"
    check("what was granted is given", send("GET", clicks, who=etl) == 200)
    refused("principals", "list", who=etl, says=["SERVICE_MANAGE_ACCESS"])
    refused("catalogs", "delete", "lake", who=etl, says=["SERVICE_MANAGE_ACCESS"])
    refused("privileges", "catalog", "grant", *on, "TABLE_DROP", who=etl, says=["CATALOG_MANAGE_ACCESS"])

    works("privileges", "table", "revoke", *on, "--namespace", "events.eu", "--table", "clicks", "TABLE_DROP")
    check("what was revoked is refused at once", send("DELETE", clicks, who=etl) == 403)
    works("privileges", "table", "grant", *on, "--namespace", "events.eu", "--table", "clicks", "TABLE_WRITE_DATA")
    works("privileges", "namespace", "revoke", *on, "--namespace", "events.eu", "--cascade", "TABLE_WRITE_DATA")
    left = works("privileges", "list", *on)
    check("a cascading revoke takes what is within", "TABLE_WRITE_DATA" not in left and "VIEW_LIST" in left, left)
    check("what is not seen is not there", send("GET", clicks, who=etl) == 404)

    setup()
    works("catalog-roles", "revoke", "--catalog", "lake", "--principal-role", "writers", "ingest")
    check("a role without grants", works("catalog-roles", "list", "lake", "--principal-role", "writers") == "")
    works("principal-roles", "revoke", "--principal", "etl", "writers")
    works("catalog-roles", "delete", "--catalog", "lake", "ingest")
    works("principal-roles", "delete", "writers")
    works("principals", "delete", "etl")
    refused("catalogs", "list", who=etl)
    refused("principals", "delete", "root")
    refused("catalogs", "delete", "lake")
    check("a table is dropped", send("DELETE", clicks) == 204)
    check("a view is dropped", send("DELETE", "lake/namespaces/events%1Feu/views/daily") == 204)
    works("namespaces", "delete", "--catalog", "lake", "events.eu")
    works("namespaces", "delete", "--catalog", "lake", "events")


def setup():
    """One file of Polaris's, applied twice, and what export writes."""
    folder = pathlib.Path(tempfile.mkdtemp())
    wanted = folder / "setup.yaml"
    wanted.write_text(f"""
principal_roles: [analysts]
principals:
  ana: {{roles: [analysts], properties: {{team: bi}}}}
catalogs:
  - name: bi
    type: internal
    storage_type: file
    default_base_location: "{WAREHOUSE}/bi"
    namespaces: [marts, {{name: marts.eu, default_write_policy: open_append}}]
    roles:
      readers:
        assign_to: [analysts]
        privileges:
          catalog: [NAMESPACE_LIST]
          namespace: {{marts.eu: [TABLE_READ_DATA]}}
""")
    works("setup", "apply", "--dry-run", str(wanted))
    check("a dry run makes nothing", "bi" not in rows(works("catalogs", "list")))
    works("setup", "apply", str(wanted))
    works("setup", "apply", str(wanted))
    check("applied", "TABLE_READ_DATA" in works("privileges", "list", "--catalog", "bi", "--catalog-role", "readers"))
    exported = works("setup", "export")
    for text in ["analysts", "ana", "readers", "TABLE_READ_DATA", "marts"]:
        check("exported: " + text, text in exported, exported)


main()
sys.exit(failures > 0)
