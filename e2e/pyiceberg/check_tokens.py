"""Who gets in: engine tokens that may only read, that are revoked or expired, and OAuth client credentials."""
import time

from pyiceberg.exceptions import ForbiddenError, OAuthError, UnauthorizedError

from data import SCHEMA, count, rows
from product import BOOT, Refused, call, catalog, governance, listing, mint, refused, set_namespace_policy
from steps import Steps, expect

steps = Steps("tokens")
cat = catalog(mint(True)["token"])
steps.run("create namespace", lambda: cat.create_namespace("keys"), must=True)
steps.run("open the namespace", lambda: set_namespace_policy("main.keys", "open_full"))
t = steps.run("create table", lambda: cat.create_table("keys.t", SCHEMA), must=True)
steps.run("append", lambda: t.append(rows(range(5))))


def read_only():
    ro = catalog(mint(False)["token"])
    held = ro.load_table("keys.t")
    expect(count(held), 5)
    for fn in (
        lambda: held.append(rows([9])),
        lambda: held.transaction().set_properties({"a": "b"}).commit_transaction(),
        lambda: ro.create_table("keys.more", SCHEMA),
        lambda: ro.create_namespace("more"),
        lambda: ro.rename_table("keys.t", "keys.u"),
        lambda: ro.drop_table("keys.t"),
        lambda: ro.drop_namespace("keys"),
        lambda: ro.update_namespace_properties("keys", updates={"a": "b"}),
    ):
        refused(ForbiddenError, fn, "read")
    expect((count(cat.load_table("keys.t")), cat.list_tables("keys")), (5, [("keys", "t")]))


steps.run("a read-only token reads and changes nothing", read_only)


def revoked():
    minted = mint(True)
    held = catalog(minted["token"])
    held.load_table("keys.t")
    governance("DELETE", f"/tokens/{minted['id']}")
    text = refused(UnauthorizedError, lambda: held.load_table("keys.t"))
    refused(UnauthorizedError, lambda: catalog(minted["token"]))
    shown = [x for x in listing("/tokens") if x["id"] == minted["id"]]
    expect((len(shown), bool(shown[0]["revokedAt"]), bool(shown[0]["lastUsedAt"])), (1, True, True))
    return text


def expired():
    minted = mint(True, "2s")
    held = catalog(minted["token"])
    held.load_table("keys.t")
    time.sleep(2.2)
    return refused(UnauthorizedError, lambda: held.load_table("keys.t"))


def status(token):
    try:
        call("GET", f"{BOOT['catalogUri']}/v1/config?warehouse={BOOT['catalog']}", token=token)
    except Refused as e:
        return e.code
    return 200


steps.run("a revoked token is 401 at once", revoked)
steps.run("an expired token is 401", expired)
steps.run("no token and nonsense are 401", lambda: expect([status(None), status("slc_nonsense"), status("x" * 5000)], [401] * 3))
steps.run("token secrets are not listed", lambda: expect([x for x in listing("/tokens") if "token" in x or "hash" in x], []))


def oauth():
    c = catalog(credential=f"{BOOT['clientId']}:{BOOT['clientSecret']}",
                **{"oauth2-server-uri": BOOT["catalogUri"] + "/v1/oauth/tokens", "scope": "PRINCIPAL_ROLE:ALL"})
    expect(count(c.load_table("keys.t")), 5)
    c.load_table("keys.t").append(rows(range(5, 7)))
    return expect(count(c.load_table("keys.t")), 7)


steps.run("OAuth client credentials", oauth)
steps.run("OAuth with a wrong secret", lambda: refused(OAuthError, lambda: catalog(
    credential=f"{BOOT['clientId']}:wrong", **{"oauth2-server-uri": BOOT["catalogUri"] + "/v1/oauth/tokens"})))
steps.run("no warehouse means the token's catalog", lambda: expect(
    catalog(mint(False)["token"], warehouse="").load_table("keys.t").name(), ("keys", "t")))
steps.run("another catalog is not the token's", lambda: refused(Exception, lambda: catalog(mint(True)["token"], warehouse="other")))
steps.run("both paths serve the same catalog", lambda: expect(
    catalog(mint(False)["token"], uri=BOOT["catalogUri"].replace("/api/catalog", "/api/table/iceberg")).list_tables("keys"), [("keys", "t")]))
steps.run("drop everything", lambda: (cat.drop_table("keys.t"), cat.drop_namespace("keys"))[1])
steps.finish()
