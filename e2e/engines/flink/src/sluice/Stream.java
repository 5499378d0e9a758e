package sluice;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.TableEnvironment;

/**
 * One streaming job: Stream insert|upsert TABLE ROWS [CHECKPOINT]. It counts to ROWS into the table, from where the checkpoint left off, and keeps
 * its checkpoints when it is killed. An upsert has a hundred keys, each of which keeps its last number.
 */
public final class Stream {
  public static void main(String[] args) throws Exception {
    boolean upsert = args[0].equals("upsert");
    Configuration c = new Configuration();
    c.setString("execution.checkpointing.dir", Lake.WORK.resolve("checkpoints-" + args[1]).toUri().toString());
    c.setString("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    if (args.length > 3) {
      c.setString("execution.state-recovery.path", args[3]);
    }
    TableEnvironment t = Lake.streaming(c);
    t.executeSql("CREATE TEMPORARY TABLE counter (n BIGINT) WITH ('connector'='datagen','rows-per-second'='100',"
        + "'fields.n.kind'='sequence','fields.n.start'='1','fields.n.end'='" + args[2] + "')");
    t.executeSql("INSERT INTO " + Lake.DB + "." + args[1] + (upsert ? " /*+ OPTIONS('upsert-enabled'='true') */" : "")
        + " SELECT " + (upsert ? "MOD(n, 100)" : "n") + ", n FROM counter").await();
    System.exit(0);
  }
}
