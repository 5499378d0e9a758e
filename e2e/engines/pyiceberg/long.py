"""A job of three minutes with keys that live for one.

PyIceberg has no renewal of its own. Where requests are signed, one table object goes on for ever; with keys it must be refreshed, and one that
was not is refused by the store."""
import os
import time

from data import SCHEMA, count, rows
from product import all_governed, catalog, drop_all
from steps import Settings as S, Steps, expect

SECONDS = int(os.environ.get("LONG_SECONDS", "180"))
steps = Steps("pyiceberg long job")
cat = catalog()
steps.run("create namespace", lambda: cat.create_namespace("longjob"), must=True)
t = steps.run("create table", lambda: cat.create_table("longjob.t", SCHEMA), must=True)
first = cat.load_table("longjob.t")


def job():
    end, appends = time.time() + SECONDS, 0
    while time.time() < end:
        if S.delegation == "vended-credentials":
            t.refresh()
        t.append(rows([appends]))
        appends += 1
        time.sleep(10)
    return f"{expect(count(cat.load_table('longjob.t')), appends)} appends in {SECONDS} s"


def ended():
    try:
        first.append(rows([1000]))
    except Exception as e:  # noqa: BLE001 - Arrow has no error of its own for it
        return " ".join(str(e).split())[:160]
    raise AssertionError("keys of three minutes ago still write")


steps.run("appends all the time", job)
if S.delegation == "vended-credentials":
    steps.run("keys from the beginning are dead", ended)
steps.run("each commit is reconciled once", lambda: all_governed("longjob"))
steps.run("drop everything", lambda: drop_all("longjob"))
steps.finish()
