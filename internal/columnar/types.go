package columnar

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// utc is the time zone of types that are an instant.
const utc = "UTC"

// The most that decimals and fixed values are read or written with.
const (
	maxPrecision = 38
	maxWidth     = 1 << 20
)

func typeOf(f metadata.Field) (arrow.DataType, error) {
	switch f.Type {
	case "struct":
		fields, err := fieldsOf(f.Children)
		if err != nil {
			return nil, err
		}
		if len(fields) == 0 { // Parquet has no such groups
			return nil, unsupported(f)
		}
		return arrow.StructOf(fields...), nil
	case "list":
		fields, err := partsOf(f, 1)
		if err != nil {
			return nil, err
		}
		return arrow.ListOfField(fields[0]), nil
	case "map":
		fields, err := partsOf(f, 2)
		if err != nil {
			return nil, err
		}
		fields[0].Nullable = false
		return arrow.MapOfFields(fields[0], fields[1]), nil
	}
	return primitive(f)
}

// partsOf gives the element of a list, or key and value of a map.
func partsOf(f metadata.Field, n int) ([]arrow.Field, error) {
	fields, err := fieldsOf(f.Children)
	if err == nil && len(fields) != n {
		err = unsupported(f)
	}
	return fields, err
}

func primitive(f metadata.Field) (arrow.DataType, error) {
	switch f.Type {
	case "boolean":
		return arrow.FixedWidthTypes.Boolean, nil
	case "int":
		return arrow.PrimitiveTypes.Int32, nil
	case "long":
		return arrow.PrimitiveTypes.Int64, nil
	case "float":
		return arrow.PrimitiveTypes.Float32, nil
	case "double":
		return arrow.PrimitiveTypes.Float64, nil
	case "string":
		return arrow.BinaryTypes.String, nil
	case "binary":
		return arrow.BinaryTypes.Binary, nil
	case "uuid":
		return extensions.NewUUIDType(), nil
	}
	if kind, ok := temporal(f.Type); ok {
		return kind, nil
	}
	if kind, ok := parametrised(f.Type); ok {
		return kind, nil
	}
	return nil, unsupported(f)
}

func temporal(name string) (arrow.DataType, bool) {
	switch name {
	case "date":
		return arrow.FixedWidthTypes.Date32, true
	case "time":
		return arrow.FixedWidthTypes.Time64us, true
	case "timestamp":
		return &arrow.TimestampType{Unit: arrow.Microsecond}, true
	case "timestamptz":
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: utc}, true
	case "timestamp_ns":
		return &arrow.TimestampType{Unit: arrow.Nanosecond}, true
	case "timestamptz_ns":
		return &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: utc}, true
	}
	return nil, false
}

// parametrised reads decimal(p,s) and fixed[n].
func parametrised(name string) (arrow.DataType, bool) {
	var precision, scale int32
	if _, err := fmt.Sscanf(name, "decimal(%d,%d)", &precision, &scale); err == nil && fmt.Sprintf("decimal(%d,%d)", precision, scale) == name {
		ok := precision > 0 && precision <= maxPrecision && scale >= 0 && scale <= precision
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}, ok
	}
	var width int
	if _, err := fmt.Sscanf(name, "fixed[%d]", &width); err == nil && fmt.Sprintf("fixed[%d]", width) == name {
		return &arrow.FixedSizeBinaryType{ByteWidth: width}, width > 0 && width <= maxWidth
	}
	return nil, false
}

func unsupported(f metadata.Field) error {
	path := f.Path
	if path == "" {
		path = f.Name
	}
	return fault.New(fault.Unsupported, "Column %s is of the type %s, which is neither read nor written here. Leave it out of the selection.", path, f.Type)
}
