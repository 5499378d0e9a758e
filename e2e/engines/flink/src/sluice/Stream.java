package sluice;

import java.util.Arrays;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.TableEnvironment;

/**
 * One streaming job: Stream insert|upsert TABLE ROWS|FIRST-LAST [SETTING=VALUE…]. It counts the rows into the table, and keeps its checkpoints when it
 * is killed; with the setting execution.state-recovery.path it goes on from one. An upsert has a hundred keys, each of which keeps its last number.
 */
public final class Stream {
  public static void main(String[] args) throws Exception {
    boolean upsert = args[0].equals("upsert");
    String[] rows = args[2].contains("-") ? args[2].split("-") : new String[] {"1", args[2]};
    Configuration c = new Configuration();
    c.setString("execution.checkpointing.dir", Lake.WORK.resolve("checkpoints-" + args[1]).toUri().toString());
    c.setString("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    for (String setting : Arrays.asList(args).subList(3, args.length)) {
      String[] parts = setting.split("=", 2);
      c.setString(parts[0], parts[1]);
    }
    TableEnvironment t = Lake.streaming(c);
    t.executeSql("CREATE TEMPORARY TABLE counter (n BIGINT) WITH ('connector'='datagen','rows-per-second'='100',"
        + "'fields.n.kind'='sequence','fields.n.start'='" + rows[0] + "','fields.n.end'='" + rows[1] + "')");
    t.executeSql("INSERT INTO " + Lake.DB + "." + args[1] + (upsert ? " /*+ OPTIONS('upsert-enabled'='true') */" : "")
        + " SELECT " + (upsert ? "MOD(n, 100)" : "n") + ", n FROM counter").await();
    System.exit(0);
  }
}
