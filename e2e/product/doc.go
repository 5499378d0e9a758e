// Package product runs the built sluice program for end-to-end tests and benchmarks, and speaks to it the way outside
// programs do: by bootstrap.json, the Iceberg REST catalog and the governance API. It imports nothing of ours.
package product
