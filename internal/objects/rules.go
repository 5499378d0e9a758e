package objects

// Rules is the location rules as a value, for packages that know them by a port.
type Rules struct{}

// Normalize gives a location's one spelling, or fault.Invalid saying what is wrong with it.
func (Rules) Normalize(location string) (string, error) {
	loc, err := Parse(location)
	if err != nil {
		return "", err
	}
	return loc.String(), nil
}

// Within tells whether location is prefix or lies below it; false when either is malformed.
func (Rules) Within(prefix, location string) bool { return WithinStrings(prefix, location) }
