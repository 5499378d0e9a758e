package masking

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/fault"
)

// hidden stands for what is not shown of a text.
const hidden = "***"

// How many characters of a text are shown.
const (
	keptStart  = 3 // by truncate
	keptEnd    = 4 // by partial
	leastShown = 8 // characters that a text must have for partial to show any
)

// redacted hides every value of strings, and which of them there are.
func redacted(in arrow.Array) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(in.Len())
	b.ReserveData(in.Len() * len(hidden))
	for range in.Len() {
		b.Append(hidden)
	}
	return b.NewArray(), nil
}

// eachText masks every string by itself. to writes what is shown of the text in parts.
func eachText(to func(put func(string), text string)) transform {
	return func(in arrow.Array) (arrow.Array, error) {
		texts, ok := in.(*array.String)
		if !ok {
			return nil, fault.New(fault.Internal, "strings are held as %T", in)
		}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.Reserve(in.Len())
		var out []byte
		put := func(part string) { out = append(out, part...) }
		for i := range texts.Len() {
			if texts.IsNull(i) {
				b.AppendNull()
				continue
			}
			out = out[:0]
			to(put, texts.Value(i))
			b.BinaryBuilder.Append(out)
		}
		return b.NewArray(), nil
	}
}

// partialText shows the end of a text that is long enough.
func partialText(put func(string), text string) {
	put(hidden)
	if utf8.RuneCountInString(text) < leastShown {
		return
	}
	start := len(text)
	for range keptEnd {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	put(text[start:])
}

// partialEmail shows the first character and the domain of an address; of a text that is none, nothing.
func partialEmail(put func(string), text string) {
	at := strings.LastIndexByte(text, '@')
	if at <= 0 {
		put(hidden)
		return
	}
	_, size := utf8.DecodeRuneInString(text)
	put(text[:min(size, at)])
	put(hidden)
	put(text[at:])
}

// start shows the first characters of a text.
func start(put func(string), text string) {
	end := 0
	for range keptStart {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	put(text[:end])
	put(hidden)
}

// network shows the network of an address, and of other texts what truncate does.
func network(put func(string), text string) {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		start(put, text)
		return
	}
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is4() {
		bits = 16
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		put(hidden)
		return
	}
	put(prefix.Masked().Addr().String())
}
