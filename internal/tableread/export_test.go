package tableread

// NewWorkspace makes the memory that a row group is decoded with.
func (r *Reader) NewWorkspace() *workspace { return r.newWorkspace() }

// Spoil overwrites the memory that reads are done with, so that whoever still reads it is found out.
func (r *Reader) Spoil() {
	r.spares.spoil = func(b []byte) {
		for i := range b {
			b[i] = 0xaa
		}
	}
}

// Close ends a workspace.
func (w *workspace) Close() { w.close() }

// Used is how much of what a workspace gave it keeps from the garbage collector, in bytes.
func (w *workspace) Used() (n int) {
	for _, b := range w.used {
		n += cap(b)
	}
	return n
}
