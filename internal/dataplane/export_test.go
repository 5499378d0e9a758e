package dataplane

import "time"

// LookFor bounds how long it is looked for a write that is in doubt.
func (s *Service) LookFor(d time.Duration) { s.writes.lookFor = d }

// KeepFor bounds how long tables are kept for a write.
func (s *Service) KeepFor(d time.Duration) { s.writes.keepFor = d }

// ChunkBytes is the size of chunks of split writes.
func (s *Service) ChunkBytes(n int) { s.writes.chunk = n }
