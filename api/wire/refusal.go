package wire

import "time"

// RefusalError is an error that an API answers in a way of its own, because no fault says it.
type RefusalError struct {
	Status     int
	Kind       string // the Iceberg error type
	Message    string // public
	RetryAfter time.Duration
}

// Error gives the public sentence.
func (r *RefusalError) Error() string { return r.Message }

// DetailedError is an error whose answer says more than a sentence can, beside it.
type DetailedError struct {
	Err     error
	Details any // is the member "errors" of the answer
}

// Error is that of Err.
func (d *DetailedError) Error() string { return d.Err.Error() }

// Unwrap gives Err.
func (d *DetailedError) Unwrap() error { return d.Err }
