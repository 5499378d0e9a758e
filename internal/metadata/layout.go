package metadata

import (
	"bytes"
	"slices"
)

// layout is a document under construction: the sections of a base with the values of some replaced
// by parts that are copied once, when it is assembled.
type layout struct {
	head, tail []byte
	sections   []draftSection
}

type draftSection struct {
	name        string
	lead, trail []byte
	parts       [][]byte
}

// newLayout starts from base; nil starts from an empty object.
func newLayout(base *Document) *layout {
	if base == nil {
		return &layout{head: []byte{'{'}, tail: []byte{'}'}}
	}
	l := &layout{head: base.head, tail: base.tail, sections: make([]draftSection, 0, len(base.sections)+4)}
	for _, s := range base.sections {
		l.sections = append(l.sections, draftSection{name: s.name, lead: s.lead, trail: s.trail, parts: [][]byte{s.value}})
	}
	return l
}

func (l *layout) find(name string) int {
	return slices.IndexFunc(l.sections, func(s draftSection) bool { return s.name == name })
}

// set replaces the value of a section, or adds the section at the end in the document's own style.
func (l *layout) set(name string, parts ...[]byte) {
	if i := l.find(name); i >= 0 {
		l.sections[i].parts = parts
		return
	}
	var lead, trail []byte
	if last := len(l.sections) - 1; last >= 0 {
		first := l.sections[0].lead
		lead = bytes.Clone(first[:skipSpace(first, 0)])
		trail, l.sections[last].trail = l.sections[last].trail, nil
	}
	lead = append(appendString(lead, name), ':')
	if len(lead) > len(name)+3 {
		lead = append(lead, ' ')
	}
	l.sections = append(l.sections, draftSection{name: name, lead: lead, trail: trail, parts: parts})
}

func (l *layout) remove(name string) {
	i := l.find(name)
	if i < 0 {
		return
	}
	if last := len(l.sections) - 1; i == last && i > 0 {
		l.sections[i-1].trail = l.sections[i].trail
	}
	l.sections = slices.Delete(l.sections, i, i+1)
}

// assemble writes the bytes once and cuts them into sections. Views and indexes stay empty.
func (l *layout) assemble() *Document {
	size := len(l.head) + len(l.tail) + len(l.sections)
	for _, s := range l.sections {
		size += len(s.lead) + len(s.trail)
		for _, part := range s.parts {
			size += len(part)
		}
	}
	buf := append(make([]byte, 0, size), l.head...)
	d := &Document{head: buf[:len(buf):len(buf)], sections: make([]section, len(l.sections))}
	for i, s := range l.sections {
		if i > 0 {
			buf = append(buf, ',')
		}
		lead := len(buf)
		buf = append(buf, s.lead...)
		value := len(buf)
		for _, part := range s.parts {
			buf = append(buf, part...)
		}
		trail := len(buf)
		buf = append(buf, s.trail...)
		d.sections[i] = section{
			name: s.name, lead: buf[lead:value:value], value: buf[value:trail:trail], trail: buf[trail:len(buf):len(buf)],
		}
	}
	tail := len(buf)
	d.raw = append(buf, l.tail...)
	d.tail = d.raw[tail:]
	return d
}
