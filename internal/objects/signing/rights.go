package signing

import (
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// area is one of a table's areas, read.
type area struct {
	at       objects.Location
	metadata bool
}

// areas are those of one table.
type areas []area

// readAreas leaves out what is no area of an S3 store: nothing is in it.
func readAreas(in []models.StorageArea) areas {
	out := make(areas, 0, len(in))
	for _, a := range in {
		if at, err := objects.Parse(a.Prefix); err == nil && at.IsS3() {
			out = append(out, area{at: at, metadata: a.Metadata})
		}
	}
	return out
}

// of gives the innermost area that a location lies in; of two at the same place the one that holds data, to which fewer
// have a right.
func (all areas) of(at objects.Location) (area, bool) {
	var inner area
	found := false
	for _, a := range all {
		if !objects.Within(a.at, at) {
			continue
		}
		longer := len(a.at.Key()) > len(inner.at.Key())
		if !found || longer || (a.at == inner.at && !a.metadata) {
			inner, found = a, true
		}
	}
	return inner, found
}

// isRoot tells whether a location is that of an area itself.
func (all areas) isRoot(at objects.Location) bool {
	for _, a := range all {
		if a.at == at {
			return true
		}
	}
	return false
}

// judge refuses what the access does not allow, and makes the request one that does no more: a listing of an area gets
// the slash at its end, a write without the right to overwrite the condition that nothing is there.
func judge(p Profile, access models.StorageAccess, c call) (call, error) {
	in := readAreas(access.Areas)
	j := judgement{access: access, areas: in}
	if err := allowedKey(p.Config, c.headers); err != nil {
		return c, err
	}
	switch c.op {
	case readObject:
		return c, j.mayRead(c.at)
	case askBucket:
		return c, j.mayAsk(c.at)
	case listObjects:
		return j.mayList(c)
	case deleteObject:
		return c, j.mayDelete(c.at, c.to.key)
	case deleteObjects:
		for _, at := range c.deletes {
			if err := j.mayDelete(at, at.Key()); err != nil {
				return c, err
			}
		}
		return c, nil
	case copyObject, uploadPartCopy:
		if err := j.mayRead(c.source); err != nil {
			return c, err
		}
	}
	return j.mayWrite(p, c)
}

// judgement is the rights of one access.
type judgement struct {
	access models.StorageAccess
	areas  areas
}

// inside gives the area of a location, or the refusal of one that lies in none.
func (j judgement) inside(at objects.Location) (area, error) {
	a, found := j.areas.of(at)
	if !found {
		return a, fault.New(fault.Forbidden, "%s does not lie in table %s. Requests are signed for files of that table alone.", shownAt(at), j.access.Table)
	}
	return a, nil
}

func shownAt(at objects.Location) string {
	s := at.String()
	if len(s) > 300 {
		return strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

func (j judgement) mayRead(at objects.Location) error {
	a, err := j.inside(at)
	if err != nil {
		return err
	}
	return j.readable(a)
}

// readable refuses areas that may not be read.
func (j judgement) readable(a area) error {
	r := j.access.Rights
	if a.metadata && r.ReadMetadata || !a.metadata && r.ReadData {
		return nil
	}
	kind := "data"
	if a.metadata {
		kind = "metadata"
	}
	return fault.New(fault.Forbidden, "You may not read the %s files of table %s: that takes %s on it and a clearance for its most sensitive column. Read it through the governed query instead.",
		kind, j.access.Table, models.TableReadData)
}

// mayAsk lets those who have any right know of the buckets that the table's areas lie in.
func (j judgement) mayAsk(bucket objects.Location) error {
	for _, a := range j.areas {
		if a.at.Bucket() == bucket.Bucket() && j.access.Rights.Any() {
			return nil
		}
	}
	_, err := j.inside(bucket)
	if err == nil {
		err = fault.New(fault.Forbidden, "You have no right on the files of table %s.", j.access.Table)
	}
	return err
}

// mayList lets a prefix be listed when it lies in an area, and all areas that it reaches may be read.
func (j judgement) mayList(c call) (call, error) {
	if err := j.mayRead(c.list); err != nil {
		return c, err
	}
	prefix, _ := c.query.value("prefix")
	if j.areas.isRoot(c.list) && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
		c.query = c.query.with("prefix", prefix)
	}
	for _, a := range j.areas {
		if a.at.Bucket() == c.list.Bucket() && strings.HasPrefix(a.at.Key()+"/", prefix) {
			if err := j.readable(a); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// mayDelete tells the writer whose table's policy keeps its files from the one who may not write at all.
func (j judgement) mayDelete(at objects.Location, key string) error {
	if _, err := j.inside(at); err != nil {
		return err
	}
	switch r := j.access.Rights; {
	case !r.Write:
		return j.noWriter()
	case !r.Delete:
		return fault.New(fault.Forbidden, "The write policy of table %s lets nobody delete its files: %s stays. Only under open_full may engines delete.", j.access.Table, shownAt(at))
	}
	return j.notRoot(at, key)
}

func (j judgement) noWriter() error {
	return fault.New(fault.Forbidden, "You may not write the files of table %s: that takes %s on it, a token that may write, and a write policy that lets engines commit.",
		j.access.Table, models.TableWriteData)
}

// notRoot keeps objects from being put where the table's folder is; a key with a slash at its end is the folder.
func (j judgement) notRoot(at objects.Location, key string) error {
	if j.areas.isRoot(at) && !strings.HasSuffix(key, "/") {
		return fault.New(fault.Forbidden, "%s is a folder of table %s. Write objects below it.", shownAt(at), j.access.Table)
	}
	return nil
}

// mayWrite covers all operations that put objects, or begin, go on with, end or ask for uploads.
func (j judgement) mayWrite(p Profile, c call) (call, error) {
	if _, err := j.inside(c.at); err != nil {
		return c, err
	}
	if !j.access.Rights.Write {
		return c, j.noWriter()
	}
	if err := j.notRoot(c.at, c.to.key); err != nil {
		return c, err
	}
	if j.access.Rights.Overwrite {
		return c, nil
	}
	return j.once(p, c)
}

// once makes a write one that replaces nothing. Copies are refused, as most stores know no condition for them.
func (j judgement) once(p Profile, c call) (call, error) {
	switch c.op {
	case copyObject:
		return c, fault.New(fault.Forbidden, "The write policy of table %s lets nobody replace its files, and a copy might. Put the object instead.", j.access.Table)
	case putObject, completeUpload:
		given := c.headers.value(ifAbsentHeader)
		if c.headers.has(ifMatchHeader) || (given != "" && given != "*") {
			return c, fault.New(fault.Forbidden, "The write policy of table %s lets nobody replace its files: %s is written only if it is not there yet.", j.access.Table, shownAt(c.at))
		}
		if given == "" && !p.Unconditional {
			c.headers = append(c.headers, header{name: ifAbsentHeader, given: "If-None-Match", value: "*"})
		}
	}
	return c, nil
}
