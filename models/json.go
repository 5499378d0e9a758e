package models

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// JSON is a value stored as JSON text in one column of either dialect.
type JSON[T any] struct{ V T }

// Value implements driver.Valuer.
func (j JSON[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(j.V)
	return string(b), err
}

// Scan implements sql.Scanner; NULL and the empty string give the zero value.
func (j *JSON[T]) Scan(src any) error {
	var b []byte
	switch s := src.(type) {
	case nil:
	case string:
		b = []byte(s)
	case []byte:
		b = s
	default:
		return fmt.Errorf("cannot read JSON from %T", src)
	}
	var zero T
	j.V = zero
	if len(b) == 0 {
		return nil
	}
	return json.Unmarshal(b, &j.V)
}
