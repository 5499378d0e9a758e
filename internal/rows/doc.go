// Package rows turns what clients send as rows into Arrow batches in a table's Arrow schema, and batches into what
// clients are answered with: a JSON array, newline-delimited JSON, or an Arrow IPC stream.
//
// A value becomes exactly what was sent or the row is refused: nothing is rounded, cut or guessed. Integers of 64 bits
// and decimals are text in answers, since JSON readers take numbers for floats. A row that is wrong does not end the
// reading as long as its end is known; a stream that cannot be told apart into rows any more does.
//
// What is read comes from strangers. Memory is bounded by one batch and one row, whatever lengths a stream claims, and
// a decoder that panics is an error.
//
// It may import internal/fault, arrow-go and jsontext.
package rows
