// Package export keeps the sealed audit in the Iceberg table sluice_system.audit, so
// that any engine can query it. It appends, in order of place and each event exactly
// once, through the catalog's own core as a platform commit; the snapshot's summary
// says which events are in it.
//
// It may import models, internal/fault, internal/metadata, internal/policy,
// internal/catalog, internal/audit and internal/tableio.
package export
