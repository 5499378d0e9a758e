package sluice;

import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/** Flink SQL on a cluster in this process, with a catalog as `sluice connect flink` configures it. */
final class Lake {
  static final Path WORK = Path.of(System.getenv("ENGINE_WORK"));
  static final String DB = "lake.`" + System.getenv("NAMESPACE") + "`";

  private Lake() {}

  /** CREATE CATALOG with the properties of the file that LAKE_PROPERTIES names. */
  private static String ddl() {
    Properties p = new Properties();
    try (Reader r = Files.newBufferedReader(Path.of(System.getenv("LAKE_PROPERTIES")), StandardCharsets.UTF_8)) {
      p.load(r);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    List<String> with = new ArrayList<>();
    for (String k : new TreeSet<>(p.stringPropertyNames())) {
      with.add("'" + k + "'='" + p.getProperty(k).replace("'", "''") + "'");
    }
    return "CREATE CATALOG lake WITH (" + String.join(", ", with) + ")";
  }

  private static Configuration base() {
    Configuration c = new Configuration();
    c.setString("parallelism.default", "1");
    c.setString("taskmanager.memory.network.min", "32mb");
    c.setString("taskmanager.memory.network.max", "32mb");
    c.setString("taskmanager.memory.managed.size", "64mb");
    c.setString("execution.checkpointing.mode", "EXACTLY_ONCE");
    c.setString("execution.checkpointing.interval", "2s");
    c.setString("restart-strategy.type", "none"); // the first failure is to be seen, not retried for ever
    // Jobs of one process share what libraries keep in static fields, an ended job's class loader with it.
    c.setString("classloader.check-leaked-classloader", "false");
    return c;
  }

  static TableEnvironment batch() {
    TableEnvironment t = TableEnvironment.create(EnvironmentSettings.newInstance().inBatchMode().withConfiguration(base()).build());
    t.executeSql(ddl());
    return t;
  }

  static TableEnvironment streaming() {
    return streaming(new Configuration());
  }

  static TableEnvironment streaming(Configuration extra) {
    Configuration c = base();
    c.addAll(extra);
    StreamExecutionEnvironment e = StreamExecutionEnvironment.getExecutionEnvironment(c);
    TableEnvironment t = StreamTableEnvironment.create(e, EnvironmentSettings.newInstance().inStreamingMode().withConfiguration(c).build());
    t.executeSql(ddl());
    return t;
  }

  static List<Row> rows(TableEnvironment t, String sql) throws Exception {
    try (CloseableIterator<Row> it = t.executeSql(sql).collect()) {
      List<Row> out = new ArrayList<>();
      it.forEachRemaining(out::add);
      return out;
    }
  }

  static Row row(String sql) throws Exception {
    return rows(batch(), sql).get(0);
  }
}
