package reconcile

// WithKeysAtOnce makes passes of so many keys.
func WithKeysAtOnce(n int64) CounterOption {
	return func(l *exactLimits) { l.keysAtOnce = n }
}
