// Package pgtest gives tests a PostgreSQL server of their own, from the binaries
// that are installed (pg_config --bindir), without root's or anybody's existing
// clusters. SLUICE_TEST_POSTGRES_URL, the URL of a database where the user may
// make schemas, is used instead where it is set.
//
// A package that needs it has
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
// and each of its tests calls Database. Other programs use Start.
//
// It imports nothing of ours.
package pgtest
