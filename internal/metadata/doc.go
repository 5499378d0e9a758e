// Package metadata is the Iceberg table metadata document, format versions 1 to 3:
// parsed, checked against requirements, changed by updates and written again
// without loss.
//
// A Document holds the JSON as raw sections with typed views over what the server
// must understand. Whatever it does not understand (unknown fields at any level,
// integers beyond 2^53, numbers spelt 1.0) survives byte for byte, because an
// unchanged section is never decoded and encoded again: the new document is
// spliced from the old bytes and the bytes the client sent. A commit on a table
// with 10,000 snapshots therefore parses none of them: a small index of the
// snapshots is shared between versions.
//
// Reading an existing document is liberal. What a client asks to change is
// checked strictly, because engines refuse to open a table whose metadata breaks
// the specification. Errors are *fault.Error: Invalid for a wrong request,
// Conflict where a refresh and a retry can help, AlreadyExists for assert-create.
//
// What a commit may cost is bounded (see limits.go), and the cost is in proportion to
// the commit and the document.
//
// It may import internal/fault and the standard library, nothing else of ours.
// It does no I/O and holds no state.
package metadata
