// Package classify says how sensitive rows are before they land, and which columns look as if they
// held personal data.
//
// A row's level is the highest of its columns that are not NULL; its tags are those of these
// columns, and those that detectors find in its texts. What is found where governance says nothing
// of it, and is more sensitive than the column, is a violation.
//
// Detectors find e-mail addresses, phone numbers, card numbers, IBANs, national ids and IP
// addresses, in a text or as all of it. What a number looks like by itself proves little: a number
// of ten digits may be a phone's or anything. So what is spelled as people spell it (grouped, with
// the country's code, with check letters that hardly fit by chance) counts wherever it is; bare
// digits count only in columns that hold little else, see column.counts.
//
// Detectors are hand-written scanners: they look at each byte a bounded number of times, whatever
// the text is, and pass over texts without digits, '@' and ':' at once.
//
// It may import internal/findings, internal/policy, models and arrow-go. No result has a value of
// a row in it.
package classify
