package vending

// Offers tells whether the store gives temporary keys at all. It is not asked.
func (p Profile) Offers() bool { return p.vends() }
