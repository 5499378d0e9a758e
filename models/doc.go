// Package models holds the rows Sluice stores and the value types its packages
// share, one noun per file. It imports the standard library alone; nothing here
// knows HTTP, SQL dialects or Temporal.
package models
