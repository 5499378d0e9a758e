package sluice;

import java.util.concurrent.Callable;

/** Runs named steps in order; a failed step is reported and the rest still run. */
final class Steps {
  private int passed;
  private int failed;

  void run(String name, Callable<?> body) {
    long start = System.nanoTime();
    try {
      Object out = body.call();
      passed++;
      System.out.printf("PASS flink 1.20: %s (%.1f s)%s%n", name, (System.nanoTime() - start) / 1e9, out == null ? "" : " -> " + out);
    } catch (Throwable e) {
      failed++;
      StringBuilder why = new StringBuilder();
      for (Throwable c = e; c != null && why.length() < 1200; c = c.getCause()) {
        why.append(" <- ").append(c.getClass().getSimpleName()).append(": ").append(String.valueOf(c.getMessage()).replaceAll("\\s+", " "));
      }
      System.out.printf("FAIL flink 1.20: %s (%.1f s):%s%n", name, (System.nanoTime() - start) / 1e9, why);
    }
  }

  void finish() {
    System.out.printf("%d passed, %d failed%n", passed, failed);
    System.out.flush();
    System.exit(failed > 0 ? 1 : 0);
  }

  static <T> T expect(T got, T want) {
    if (!want.equals(got)) {
      throw new AssertionError("got " + got + ", want " + want);
    }
    return got;
  }
}
