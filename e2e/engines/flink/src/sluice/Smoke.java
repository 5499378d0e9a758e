package sluice;

import static sluice.Lake.DB;
import static sluice.Lake.batch;
import static sluice.Lake.row;
import static sluice.Lake.rows;
import static sluice.Lake.streaming;
import static sluice.Steps.expect;

import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/** Flink's everyday work, in batch and in streams. Its tables stay for whoever checks them. */
public final class Smoke {
  private final Steps steps = new Steps();
  private final TableEnvironment b = batch();

  public static void main(String[] args) {
    new Smoke().run();
  }

  private void run() {
    steps.run("create database", () -> {
      b.executeSql("CREATE DATABASE " + DB);
      return rows(b, "SHOW DATABASES IN lake");
    });
    steps.run("create partitioned table", () -> {
      b.executeSql("CREATE TABLE " + DB + ".clicks (event_id STRING, user_id BIGINT, event_time TIMESTAMP(6), kind STRING, PRIMARY KEY (event_id, kind) NOT ENFORCED)"
          + " PARTITIONED BY (kind) WITH ('format-version'='2','write.upsert.enabled'='false')");
      return null;
    });
    steps.run("batch insert and read back", this::insert);
    steps.run("streaming insert, one snapshot per checkpoint", this::stream);
    steps.run("upserts leave one row per key", this::upsert);
    steps.run("Kafka source", this::kafka);
    steps.run("streaming read of new snapshots", this::read);
    steps.run("batch overwrite", () -> {
      await("INSERT OVERWRITE " + DB + ".clicks PARTITION (kind='x') SELECT 'z', CAST(9 AS BIGINT), CAST(TIMESTAMP '2026-01-01 00:00:00' AS TIMESTAMP(6))");
      return expect(row("SELECT count(*) FROM " + DB + ".clicks WHERE kind = 'x'"), Row.of(1L));
    });
    steps.run("set table properties", () -> {
      b.executeSql("ALTER TABLE " + DB + ".clicks SET ('write.metadata.delete-after-commit.enabled'='true','write.metadata.previous-versions-max'='5')");
      return null;
    });
    steps.run("drop a table", () -> {
      b.executeSql("CREATE TABLE " + DB + ".passing (id BIGINT)");
      await("INSERT INTO " + DB + ".passing VALUES (1)");
      b.executeSql("DROP TABLE " + DB + ".passing");
      return expect(rows(b, "SHOW TABLES IN " + DB).contains(Row.of("passing")), false);
    });
    steps.finish();
  }

  private void await(String sql) throws Exception {
    b.executeSql(sql).await(180, TimeUnit.SECONDS);
  }

  private Object insert() throws Exception {
    await("INSERT INTO " + DB + ".clicks VALUES ('a', 1, TIMESTAMP '2026-01-01 00:00:00', 'x'), ('b', 2, TIMESTAMP '2026-01-01 00:00:01', 'y')");
    return expect(row("SELECT count(*) FROM " + DB + ".clicks"), Row.of(2L));
  }

  private static String counter(int rows) {
    return "CREATE TEMPORARY TABLE gen (n BIGINT) WITH ('connector'='datagen','rows-per-second'='200','fields.n.kind'='sequence','fields.n.start'='1','fields.n.end'='" + rows + "')";
  }

  private Object stream() throws Exception {
    TableEnvironment t = streaming();
    t.executeSql(counter(1500));
    t.executeSql("INSERT INTO " + DB + ".clicks SELECT CAST(n AS STRING), n, CAST(TIMESTAMP '2026-01-01 00:00:00' AS TIMESTAMP(6)), CASE WHEN MOD(n, 2) = 0 THEN 'even' ELSE 'odd' END FROM gen")
        .await(240, TimeUnit.SECONDS);
    expect(row("SELECT count(*) FROM " + DB + ".clicks"), Row.of(1502L));
    return row("SELECT count(*) FROM " + DB + ".`clicks$snapshots`") + " snapshots";
  }

  private Object upsert() throws Exception {
    b.executeSql("CREATE TABLE " + DB + ".user_state (user_id BIGINT, status STRING, PRIMARY KEY (user_id) NOT ENFORCED) WITH ('format-version'='2')");
    for (String status : new String[] {"first", "second"}) {
      TableEnvironment t = streaming();
      t.executeSql(counter(300));
      t.executeSql("INSERT INTO " + DB + ".user_state /*+ OPTIONS('upsert-enabled'='true') */ SELECT MOD(n, 50), '" + status + "' FROM gen").await(240, TimeUnit.SECONDS);
    }
    expect(row("SELECT count(*), count(DISTINCT user_id) FROM " + DB + ".user_state"), Row.of(50L, 50L));
    return expect(row("SELECT count(*) FROM " + DB + ".user_state WHERE status = 'second'"), Row.of(50L));
  }

  private Object kafka() throws Exception {
    b.executeSql("CREATE TABLE " + DB + ".fromkafka (n BIGINT) WITH ('format-version'='2')");
    String connector = "'connector'='kafka','topic'='flink','properties.bootstrap.servers'='" + System.getenv("KAFKA_BOOTSTRAP") + "','format'='json'";
    TableEnvironment producer = streaming();
    producer.executeSql(counter(1000));
    producer.executeSql("CREATE TEMPORARY TABLE topic (n BIGINT) WITH (" + connector + ")");
    producer.executeSql("INSERT INTO topic SELECT n FROM gen").await(240, TimeUnit.SECONDS);
    TableEnvironment t = streaming();
    t.executeSql("CREATE TEMPORARY TABLE topic (n BIGINT) WITH (" + connector + ",'properties.group.id'='flink','scan.startup.mode'='earliest-offset')");
    JobClient job = t.executeSql("INSERT INTO " + DB + ".fromkafka SELECT n FROM topic").getJobClient().get();
    long end = System.currentTimeMillis() + 240_000;
    Row got = null;
    while (System.currentTimeMillis() < end && !Row.of(1000L, 1000L).equals(got)) {
      Thread.sleep(2000);
      got = row("SELECT count(*), count(DISTINCT n) FROM " + DB + ".fromkafka");
    }
    job.cancel().get(60, TimeUnit.SECONDS);
    return expect(got, Row.of(1000L, 1000L));
  }

  private Object read() throws Exception {
    TableResult r = streaming().executeSql("SELECT event_id FROM " + DB + ".clicks /*+ OPTIONS('streaming'='true','monitor-interval'='1s','starting-strategy'='TABLE_SCAN_THEN_INCREMENTAL') */");
    Thread watch = new Thread(() -> {
      try {
        Thread.sleep(120_000);
        r.getJobClient().get().cancel();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // the rows came in time
      }
    });
    watch.setDaemon(true);
    watch.start();
    int n = 0;
    try (CloseableIterator<Row> it = r.collect()) {
      while (n < 1502 && it.hasNext()) {
        it.next();
        n++;
      }
    } finally {
      watch.interrupt();
    }
    return expect(n, 1502);
  }
}
