package sluice;

/** Prints the first row that a query gives; DB in it stands for the database. */
public final class Query {
  public static void main(String[] args) throws Exception {
    System.out.println(Lake.row(args[0].replace("DB", Lake.DB)));
    System.exit(0);
  }
}
