// Package facade tests the Iceberg REST facade as engines meet it: the real router over the commit core, SQLite and a
// warehouse folder, in one process. Tests named TestCase… replay what users of other catalogs reported.
package facade
