package config

import "time"

// Data says what governed reads and writes of rows may cost.
type Data struct {
	Memory       Bytes         // that all reads and writes of a process hold together
	Rows         int           // of one answer that is not streamed, or of one page
	AnswerBytes  Bytes         // of one answer
	RequestBytes Bytes         // of one write, after inflation
	Timeout      time.Duration // of one read or write
	Concurrency  int           // reads and writes of one principal at a time, in one process
	SplitAfter   Bytes         // size of a write from which on Temporal activities share the work
}

func (c *Config) dataSettings() []Setting {
	d := &c.Data
	return []Setting{
		{Name: "data-memory", Value: size(&d.Memory), Usage: "memory of all governed reads and writes of a process together"},
		{Name: "data-max-rows", Value: number(&d.Rows), Usage: "rows of one page or of one answer in JSON; streams have no such limit"},
		{Name: "data-max-answer", Value: size(&d.AnswerBytes), Usage: "size of one answer of a governed query"},
		{Name: "data-max-write", Value: size(&d.RequestBytes), Usage: "size of one governed write, after inflation"},
		{Name: "data-timeout", Value: duration(&d.Timeout), Usage: "how long one governed read or write may take"},
		{Name: "data-concurrency", Value: number(&d.Concurrency), Usage: "governed reads and writes of one principal at a time"},
		{Name: "data-split-after", Value: size(&d.SplitAfter), Usage: "size of a governed append from which on workers share the work"},
	}
}

func (c *Config) verifyData() error {
	d := c.Data
	for _, s := range []struct {
		name  string
		value Bytes
		least Bytes
	}{
		{"data-memory", d.Memory, 64 << 20}, {"data-max-answer", d.AnswerBytes, 1 << 20},
		{"data-max-write", d.RequestBytes, 1 << 10}, {"data-split-after", d.SplitAfter, 1 << 20},
	} {
		if s.value < s.least {
			return invalid("%s is %s: it must be at least %s", s.name, s.value, s.least)
		}
	}
	if d.Rows < 1 || d.Concurrency < 1 {
		return invalid("data-max-rows and data-concurrency must be at least 1")
	}
	if d.Timeout < time.Second {
		return invalid("data-timeout is %s: it must be at least 1s", d.Timeout)
	}
	return nil
}
