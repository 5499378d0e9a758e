"""Tables of a namespace as Spark reads them and as the data plane answers."""
import os
import time

os.environ["TZ"] = "UTC"  # Spark gives Python local times
time.tzset()

from governed import comparable, counted, query, ref, same  # noqa: E402
from product import call, namespace_uri, troubles  # noqa: E402
from session import session  # noqa: E402


class Both:
    def __init__(self, namespace):
        self.namespace = namespace
        self.spark = session(namespace)
        self.spark.conf.set("spark.sql.session.timeZone", "UTC")
        call("POST", namespace_uri(), {"namespace": [namespace]})

    def ref(self, name):
        return ref(self.namespace, name)

    def sql(self, text):
        """The rows of a statement, in which each # stands for the namespace."""
        return self.spark.sql(text.replace("#", f"lake.{self.namespace}.")).collect()

    def one(self, text):
        return self.sql(text)[0][0]

    def found(self):
        """The findings on these tables, but for small files, which they get indeed."""
        return [f for f in troubles() if f["table"].startswith(self.namespace + ".") and f["kind"] != "small_files"]

    def equal(self, name, model=None, at=None):
        """What Spark reads is what a governed query answers, now or at a snapshot, and a model where there is one."""
        answer, fields = query(self.ref(name), **({"snapshot_id": str(at)} if at else {}))
        rows = self.sql(f"SELECT * FROM #{name}" + (f" VERSION AS OF {at}" if at else ""))
        same(comparable(rows, fields), answer, "Spark")
        if model is not None:
            same(answer, comparable(model.values(), fields), "the query")
        return f"{len(rows)} rows"

    def history(self, name):
        """Every snapshot is read alike by both."""
        at = [r[0] for r in self.sql(f"SELECT snapshot_id FROM #{name}.snapshots ORDER BY committed_at")]
        return f"snapshots of {', '.join(self.equal(name, at=s).split()[0] for s in at)} rows"

    def counted(self, name):
        """Reconciliation recorded as many rows as Spark counts."""
        rows = self.one(f"SELECT count(*) FROM #{name}")
        counted(self.ref(name), rows)
        return f"{rows} rows"

    def deletes(self, name):
        """What deletes rows: position deletes and, in version 3, one vector for a file at most."""
        twice = self.sql(f"SELECT referenced_data_file FROM #{name}.delete_files WHERE file_format = 'PUFFIN' GROUP BY 1 HAVING count(*) > 1")
        if twice:
            raise AssertionError(f"{twice[0][0]} has several vectors")
        kinds = self.sql(f"SELECT content, file_format, count(*) FROM #{name}.delete_files GROUP BY 1, 2 ORDER BY 1, 2")
        return {(content, form): n for content, form, n in kinds}
