package scan

// Kept is what is set aside for the manifests that are kept, in bytes.
func (p *Planner) Kept() int64 { return p.read.Used() }
