package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-data/sluice/models"
)

// value is a Value over a field: how to read and write its text.
type value struct {
	kind string
	get  func() string
	set  func(string) error
}

func (v value) String() string {
	if v.get == nil { // flag packages ask the zero value too
		return ""
	}
	return v.get()
}
func (v value) Set(text string) error { return v.set(text) }
func (v value) Type() string          { return v.kind }

func text(p *string) Value {
	return value{"string", func() string { return *p }, func(s string) error { *p = s; return nil }}
}

func secret(p *Secret) Value {
	return value{"secret", func() string { return p.String() }, func(s string) error { *p = Secret(s); return nil }}
}

func number(p *int) Value {
	return value{"int", func() string { return strconv.Itoa(*p) }, func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", s)
		}
		*p = n
		return nil
	}}
}

func boolean(p *bool) Value {
	return value{"bool", func() string { return strconv.FormatBool(*p) }, func(s string) error {
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", s)
		}
		*p = b
		return nil
	}}
}

func duration(p *time.Duration) Value {
	return value{"duration", func() string { return p.String() }, func(s string) error {
		d, err := models.ParseDuration(s)
		if err != nil {
			return err
		}
		*p = d
		return nil
	}}
}

// list takes comma-separated values and replaces what was there.
func list(p *[]string) Value {
	return value{"list", func() string { return strings.Join(*p, ",") }, func(s string) error {
		*p = nil
		for item := range strings.SplitSeq(s, ",") {
			if item = strings.TrimSpace(item); item != "" {
				*p = append(*p, item)
			}
		}
		return nil
	}}
}

// Bytes is an amount of memory.
type Bytes int64

// String gives the amount in the largest unit that divides it.
func (b Bytes) String() string {
	for _, unit := range byteUnits() {
		if b != 0 && b%unit.size == 0 {
			return strconv.FormatInt(int64(b/unit.size), 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func size(p *Bytes) Value {
	return value{"bytes", func() string { return p.String() }, func(s string) error {
		digits, factor := s, Bytes(1)
		for _, unit := range byteUnits() {
			if rest, ok := strings.CutSuffix(s, unit.name); ok {
				digits, factor = rest, unit.size
				break
			}
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/int64(factor) {
			return fmt.Errorf("%q is not a size such as 512KiB, 64MiB or 1GiB", s)
		}
		*p = Bytes(n) * factor
		return nil
	}}
}

type byteUnit struct {
	name string
	size Bytes
}

func byteUnits() []byteUnit {
	return []byteUnit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}
}
