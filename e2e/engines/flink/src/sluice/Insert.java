package sluice;

import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.TableEnvironment;

/** Runs one statement as a bounded job, in batch or in a stream: Insert batch|streaming STATEMENT [SETTING=VALUE…]; DB in it stands for the database. */
public final class Insert {
  public static void main(String[] args) throws Exception {
    TableEnvironment t;
    if (args[0].equals("batch")) {
      t = Lake.batch();
    } else {
      t = Lake.streaming(new Configuration());
    }
    for (int i = 2; i < args.length; i++) {
      String[] parts = args[i].split("=", 2);
      t.getConfig().set(parts[0], parts[1]);
    }
    t.executeSql(args[1].replace("DB", Lake.DB)).await(300, TimeUnit.SECONDS);
    System.exit(0);
  }
}
