// Package setup brings an installation to the state that a file describes: principals, principal roles and catalogs with
// their namespaces, catalog roles, assignments and grants. The file is the YAML of Apache Polaris's setup command with a
// few members of our own, so that one file serves both. Parse and Export read and write it, Diff says what is to change,
// and Apply does it over a port.
//
// It may import models, internal/fault, internal/policy and YAML. It is pure but for what the port does.
package setup
