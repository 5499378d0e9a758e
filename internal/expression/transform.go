package expression

import (
	"math"
	"math/big"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// resultType gives the type of a transform's results; false when it does not take the source type or is not known.
func resultType(transform iceberg.Transform, source Type) (Type, bool) {
	isDate := source.name == typeDate
	switch transform.(type) {
	case iceberg.IdentityTransform, iceberg.VoidTransform:
		return source, true
	case iceberg.BucketTransform:
		return TypeNamed(typeInt), source.kind != noKind && source.kind != boolKind && source.kind != floatKind
	case iceberg.TruncateTransform:
		ok := source.name == typeInt || source.name == typeLong || source.name == typeString || source.name == typeBinary
		return source, ok || source.kind == decimalKind
	case iceberg.YearTransform, iceberg.MonthTransform:
		return TypeNamed(typeInt), isDate || source.isTimestamp()
	case iceberg.DayTransform:
		return TypeNamed(typeDate), isDate || source.isTimestamp()
	case iceberg.HourTransform:
		return TypeNamed(typeInt), source.isTimestamp()
	}
	return Type{}, false
}

// apply transforms a value of the type; false when that cannot be.
func apply(transform iceberg.Transform, t Type, v any) (any, bool) {
	switch transform := transform.(type) {
	case iceberg.IdentityTransform:
		return v, true
	case iceberg.YearTransform, iceberg.MonthTransform, iceberg.DayTransform, iceberg.HourTransform:
		n, ok := v.(int64)
		return calendar(transform, t, n), ok
	case iceberg.TruncateTransform:
		return truncate(int64(transform.Width), t, v)
	case iceberg.BucketTransform:
		lit, ok := t.lit(v)
		if !ok {
			return nil, false
		}
		out := transform.Apply(iceberg.Optional[iceberg.Literal]{Valid: true, Val: lit})
		bucket, ok := out.Val.(iceberg.Int32Literal)
		return int64(bucket), out.Valid && ok
	}
	return nil, false
}

// calendar counts whole years, months, days or hours since 1970, down.
func calendar(transform iceberg.Transform, t Type, n int64) int64 {
	seconds := n * secondsPerDay
	switch {
	case t.isNanos():
		seconds = floorDiv(n, 1_000_000_000)
	case t.isTimestamp():
		seconds = floorDiv(n, 1_000_000)
	}
	switch transform.(type) {
	case iceberg.DayTransform:
		return floorDiv(seconds, secondsPerDay)
	case iceberg.HourTransform:
		return floorDiv(seconds, 3600)
	}
	at := time.Unix(seconds, 0).UTC()
	years := int64(at.Year() - 1970)
	if _, yearly := transform.(iceberg.YearTransform); yearly {
		return years
	}
	return years*12 + int64(at.Month()) - 1
}

func truncate(width int64, t Type, v any) (any, bool) {
	switch v := v.(type) {
	case int64:
		low := floorDiv(v, width) * width
		return low, width > 0 && low <= v
	case *big.Rat:
		unscaled := new(big.Rat).Mul(v, new(big.Rat).SetInt(pow10(t.scale)))
		if !unscaled.IsInt() {
			return nil, false
		}
		w := big.NewInt(width)
		low := new(big.Int).Sub(unscaled.Num(), new(big.Int).Mod(unscaled.Num(), w))
		return t.unscaled(low), true
	case string:
		if t.kind == bytesKind {
			return v[:min(int64(len(v)), width)], true
		}
		return firstRunes(v, width), true
	}
	return nil, false
}

// firstRunes cuts after so many code points.
func firstRunes(s string, n int64) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// lit makes iceberg-go's literal of a value, for its bucket hash.
func (t Type) lit(v any) (iceberg.Literal, bool) {
	switch v := v.(type) {
	case int64:
		return t.intLit(v)
	case *big.Rat:
		text := v.FloatString(t.scale)
		if same, ok := rational(text); !ok || same.Cmp(v) != 0 {
			return nil, false // more digits than the column has
		}
		lit, err := iceberg.StringLiteral(text).To(iceberg.DecimalTypeOf(38, t.scale))
		return lit, err == nil
	case string:
		switch {
		case t.kind == stringKind:
			return iceberg.StringLiteral(v), true
		case t.name == typeUUID:
			id, err := uuid.FromBytes([]byte(v))
			return iceberg.UUIDLiteral(id), err == nil
		}
		return iceberg.BinaryLiteral(v), true
	}
	return nil, false
}

func (t Type) intLit(v int64) (iceberg.Literal, bool) {
	switch t.name {
	case typeInt, typeDate:
		// An int hashes as the long of its value.
		return iceberg.Int64Literal(v), v >= math.MinInt32 && v <= math.MaxInt32
	case typeTimestamp, typeTimestampTz:
		return iceberg.TimestampLiteral(v), true
	case typeNanos, typeNanosTz:
		return iceberg.TimestampNsLiteral(v), true
	}
	return iceberg.Int64Literal(v), true
}
