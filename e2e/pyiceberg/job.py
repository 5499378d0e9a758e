"""A streaming job's principal, made with the commands of Apache Polaris's article: may write one namespace and no more."""
import json
import os
import subprocess

from product import call, create_table, namespace_uri, set_namespace_policy

BIN, DATA = os.environ["SLUICE_BIN"], os.environ["SLUICE_DATA"]
PRINCIPAL, ROLE, CATALOG_ROLE = "events_writer", "events_writers", "events_ingest"


def sluice(*words):
    """Runs one command of the program against the running serve and gives what it prints as JSON, None for nothing."""
    done = subprocess.run([BIN, *words, "-o", "json", "--data", DATA], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"sluice {' '.join(words)}: {done.stderr or done.stdout}")
    return json.loads(done.stdout) if done.stdout.strip() else None


def prepare():
    """Root's part: two namespaces with a table each, open to appends."""
    for ns in ("events", "billing"):
        call("POST", namespace_uri(), {"namespace": [ns]})
        set_namespace_policy(f"main.{ns}", "open_append")
        create_table(ns, "clicks", ("id", "long"), ("status", "string"), ("ts", "timestamptz"), key=("id",))


def admit():
    """The article's access section, word for word. It gives the principal's credentials."""
    made = sluice("principals", "create", PRINCIPAL)
    sluice("principal-roles", "create", ROLE)
    sluice("catalog-roles", "create", "--catalog", "main", CATALOG_ROLE)
    sluice("principal-roles", "grant", "--principal", PRINCIPAL, ROLE)
    sluice("catalog-roles", "grant", "--catalog", "main", "--principal-role", ROLE, CATALOG_ROLE)
    sluice("privileges", "namespace", "grant", "--catalog", "main", "--catalog-role", CATALOG_ROLE, "--namespace", "events",
           "TABLE_WRITE_DATA")
    return made["clientId"], made["clientSecret"]
