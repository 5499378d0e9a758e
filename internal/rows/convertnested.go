package rows

import (
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/fault"
)

func (t *table) temporalAdder(a arrow.Array, c *column) func(i int) bool {
	var take func(i int) int64
	digits, zoned, kind := 0, false, c.kind
	switch from := a.(type) {
	case *array.Date32:
		kind, take = dates, func(i int) int64 { return int64(from.Value(i)) }
	case *array.Date64:
		kind = dates
		if c.kind == dates {
			return func(i int) bool { return t.longDate(c, int64(from.Value(i))) }
		}
	case *array.Time32:
		kind, digits = times, unitDigits(from.DataType().(*arrow.Time32Type).Unit)
		take = func(i int) int64 { return int64(from.Value(i)) }
	case *array.Time64:
		kind, digits = times, unitDigits(from.DataType().(*arrow.Time64Type).Unit)
		take = func(i int) int64 { return int64(from.Value(i)) }
	case *array.Timestamp:
		of := from.DataType().(*arrow.TimestampType)
		kind, digits, zoned = timestamps, unitDigits(of.Unit), of.TimeZone != ""
		take = func(i int) int64 { return int64(from.Value(i)) }
	}
	if take == nil || kind != c.kind || zoned != c.zoned {
		return nil
	}
	return func(i int) bool {
		v, message := rescaled(take(i), digits, c.digits)
		if message == "" && kind == times && (v < 0 || v >= secondsOfDay*power10(c.digits)) {
			message = "is no time of a day"
		}
		if message != "" {
			return t.wrong(nil, message)
		}
		c.addInteger(v)
		return true
	}
}

func (t *table) longDate(c *column, milliseconds int64) bool {
	day, rest := floorDiv(milliseconds, secondsOfDay*1000)
	if rest != 0 {
		return t.wrong(nil, "is no whole day")
	}
	if day < math.MinInt32 || day > math.MaxInt32 {
		return t.wrong(nil, "is a date outside of what the column can hold")
	}
	c.addInteger(day)
	return true
}

// rescaled gives a count of units of so many digits after the second in other units. The message says why it cannot.
func rescaled(v int64, from, to int) (int64, string) {
	if to >= from {
		factor := power10(to - from)
		if v > math.MaxInt64/factor || v < math.MinInt64/factor {
			return 0, "is outside of what the column can hold"
		}
		return v * factor, ""
	}
	quotient, rest := floorDiv(v, power10(from-to))
	if rest != 0 {
		return 0, "is finer than the column can hold: it takes " + strconv.Itoa(to) + " digits after the second"
	}
	return quotient, ""
}

func (t *table) nestedAdder(a arrow.Array, c *column, path string) (func(i int) bool, error) {
	switch c.kind {
	case structs:
		if from, ok := a.(*array.Struct); ok {
			return t.structAdder(from, c, path)
		}
	case maps:
		if from, ok := a.(*array.Map); ok {
			return t.mapAdder(from, c, path)
		}
	case lists:
		_, isMap := a.(*array.Map)
		if from, ok := a.(array.ListLike); ok && !isMap {
			return t.listAdder(from, c, path)
		}
	}
	return nil, nil
}

func (t *table) structAdder(from *array.Struct, c *column, path string) (func(i int) bool, error) {
	parts := make([]cells, len(c.parts))
	for i, f := range from.DataType().(*arrow.StructType).Fields() {
		place, ok := c.names[f.Name]
		if !ok {
			return nil, fault.New(fault.Invalid, "Column %s has a field %q in the Arrow stream, which the table has not: leave it out.", path, shown([]byte(f.Name)))
		}
		if parts[place].array != nil {
			return nil, fault.New(fault.Invalid, "Column %s has the field %s twice in the Arrow stream: send each field once.", path, f.Name)
		}
		var err error
		if parts[place], err = t.cells(from.Field(i), c.parts[place], path+"."+f.Name); err != nil {
			return nil, err
		}
	}
	return func(i int) bool {
		depth := len(t.path)
		for place, p := range c.parts {
			t.path = append(t.path[:depth], step{name: p.field.Name})
			if parts[place].array == nil {
				t.missing(p)
			} else {
				t.arrowValue(&parts[place], i)
			}
		}
		t.path = t.path[:depth]
		c.mark(true)
		return true
	}, nil
}

func (t *table) listAdder(from array.ListLike, c *column, path string) (func(i int) bool, error) {
	values, err := t.cells(from.ListValues(), c.parts[0], path+"[]")
	if err != nil {
		return nil, err
	}
	return func(i int) bool {
		start, end := from.ValueOffsets(i)
		depth := len(t.path)
		for v := start; v < end && t.spend(int(c.parts[0].cost)); v++ {
			t.path = append(t.path[:depth], step{place: int(v - start)})
			t.arrowValue(&values, int(v))
		}
		t.path = t.path[:depth]
		c.addParts()
		return true
	}, nil
}

func (t *table) mapAdder(from *array.Map, c *column, path string) (func(i int) bool, error) {
	keys, err := t.cells(from.Keys(), c.parts[0], path+".key")
	if err != nil {
		return nil, err
	}
	items, err := t.cells(from.Items(), c.parts[1], path+".value")
	if err != nil {
		return nil, err
	}
	return func(i int) bool {
		start, end := from.ValueOffsets(i)
		depth := len(t.path)
		for v := start; v < end && t.spend(int(c.parts[0].cost+c.parts[1].cost)); v++ {
			t.path = append(t.path[:depth], step{place: int(v - start)}, step{name: "key"})
			t.arrowValue(&keys, int(v))
			t.path[depth+1].name = "value"
			t.arrowValue(&items, int(v))
		}
		t.path = t.path[:depth]
		c.addParts()
		t.repeated(c)
		return true
	}, nil
}
