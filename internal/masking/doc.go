// Package masking puts masks in the place of values, over Arrow record batches. internal/policy
// decides which column is masked how; here it is done, and nowhere else.
//
// What comes out of a masked column depends on nothing but the mask of each value, and on no
// value that the mask does not let through, in no byte of the answer:
//
//   - null: NULL in every row.
//   - redact: "***" in every row of strings, NULL ones too; NULL in every row of other types.
//   - partial, of strings: of an e-mail address (tag email) the first character and the domain; else
//     the last four characters of at least eight.
//   - hash: "hmac:" and half of an HMAC-SHA256 of the tag, or without one the column's name, and the
//     value's text. Equal values of one tag have equal hashes, in every table of the installation.
//     The column is of type string then.
//   - truncate: of strings the first three characters, of an address (tag ip) its network (/16, or
//     /32 of IPv6), of numbers two leading digits, of dates and timestamps the first day of the year.
//
// The last three keep NULL. A mask that a type does not take is null, and so is every mask of a
// column in or around a list or a map. A struct with a masked column in it is never NULL itself:
// that would tell of a NULL in what is masked.
//
// It may import internal/fault, internal/policy and arrow-go.
package masking
