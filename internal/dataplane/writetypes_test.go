package dataplane_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// everyType is the fields of a schema that has each type, nested ones too; its key is in a struct.
const everyType = `{"id":1,"name":"b","type":"boolean","required":false},{"id":2,"name":"i","type":"int","required":false},` +
	`{"id":3,"name":"l","type":"long","required":true},{"id":4,"name":"f","type":"float","required":false},{"id":5,"name":"d","type":"double","required":false},` +
	`{"id":6,"name":"dec","type":"decimal(20,4)","required":false},{"id":7,"name":"day","type":"date","required":false},` +
	`{"id":8,"name":"t","type":"time","required":false},{"id":9,"name":"ts","type":"timestamp","required":false},` +
	`{"id":10,"name":"tz","type":"timestamptz","required":false},{"id":11,"name":"ns","type":"timestamp_ns","required":false},` +
	`{"id":12,"name":"s","type":"string","required":false},{"id":13,"name":"u","type":"uuid","required":true},` +
	`{"id":14,"name":"fix","type":"fixed[3]","required":false},{"id":15,"name":"bin","type":"binary","required":false},` +
	`{"id":16,"name":"list","type":{"type":"list","element-id":17,"element":"string","element-required":false},"required":false},` +
	`{"id":18,"name":"map","type":{"type":"map","key-id":19,"key":"string","value-id":20,"value":"long","value-required":false},"required":false},` +
	`{"id":21,"name":"st","type":{"type":"struct","fields":[{"id":22,"name":"key","type":"string","required":false},` +
	`{"id":23,"name":"deep","type":{"type":"struct","fields":[{"id":24,"name":"x","type":"int","required":false}]},"required":false}]},"required":true}`

func typed(n int) string {
	return fmt.Sprintf(`{"b":true,"i":%d,"l":"%d","f":0.5,"d":0.25,"dec":"%d.5000","day":"2026-01-31","t":"12:34:56.123456","ts":"2026-01-31T12:34:56.123456",`+
		`"tz":"2026-01-31T12:34:56.123456Z","ns":"2026-01-31T12:34:56.123456789","s":"x%d","u":"00000000-0000-0000-0000-%012d","fix":"AAEC","bin":"AAECAw==",`+
		`"list":["a",null],"map":[{"key":"k","value":"%d"}],"st":{"key":"k%d","deep":{"x":%d}}}`, n, n, n, n, n, n, n%3, n)
}

func empty(n int) string {
	return fmt.Sprintf(`{"b":null,"i":null,"l":"%d","f":null,"d":null,"dec":null,"day":null,"t":null,"ts":null,"tz":null,"ns":null,"s":null,`+
		`"u":"00000000-0000-0000-0000-%012d","fix":null,"bin":null,"list":null,"map":null,"st":{"key":"k%d","deep":null}}`, n, n, n%3)
}

// Whatever the format and the way, what lands is what was sent.
func TestEveryTypeInEveryFormat(t *testing.T) {
	l := newWriteLake(t)
	var lines []string
	for n := range 300 {
		lines = append(lines, []string{typed(n), empty(n)}[n%2])
	}
	sorted := strings.Join(sortedCopy(lines), "\n")
	for _, mode := range []models.WriteMode{models.AppendRows, models.UpsertRows} {
		name := string(mode)
		l.make(made{name: name, version: 3, fields: everyType, identifier: "3,13"})
		l.wrote(name, dataplane.WriteInput{Mode: mode}, lines...)
		require.Equal(t, sorted, strings.Join(l.content(name), "\n"))

		arrow, err := l.query(l.owner(), name, dataplane.QueryInput{Format: rows.ArrowStream})
		require.NoError(t, err)
		l.make(made{name: name + "2", version: 3, fields: everyType, identifier: "3,13"})
		out := l.wrote(name+"2", dataplane.WriteInput{Mode: mode, Format: rows.ArrowStream, Body: bytes.NewReader(arrow.body.Bytes())})
		require.EqualValues(t, 300, out.Rows)
		require.Equal(t, sorted, strings.Join(l.content(name+"2"), "\n"))
		require.Equal(t, l.hashes(name, "l", "u"), hashesOf(l.records(out.AuditID)))

		l.make(made{name: name + "3", version: 3, fields: everyType, identifier: "3,13"})
		l.wrote(name+"3", dataplane.WriteInput{Mode: mode, Format: rows.JSON, Body: strings.NewReader("[" + strings.Join(lines, ",") + "]")})
		require.Equal(t, sorted, strings.Join(l.content(name+"3"), "\n"))
	}
}

// The key is in a struct, and of several columns; every second row is replaced.
func TestNestedKeys(t *testing.T) {
	for version := 2; version <= 3; version++ {
		l := newWriteLake(t)
		fields := everyType
		if version == 2 {
			fields = strings.Replace(fields, `"type":"timestamp_ns"`, `"type":"timestamp"`, 1)
		}
		l.make(made{name: "t", version: version, fields: fields})
		l.govern("t", "", []string{"st.key", "l"}, nil)
		row := func(n int) string {
			if version == 2 {
				return strings.Replace(typed(n), "123456789", "123456", 1)
			}
			return typed(n)
		}
		var lines, want []string
		for n := range 100 {
			lines = append(lines, row(n))
		}
		l.wrote("t", upsert, lines...)
		var replacing []string
		for n, line := range lines {
			if n%2 == 0 {
				line = strings.Replace(line, `"b":true`, `"b":false`, 1)
				replacing = append(replacing, line)
			}
			want = append(want, line)
		}
		out := l.wrote("t", upsert, replacing...)
		require.EqualValues(t, 50, *out.Updated)
		require.Equal(t, sortedCopy(want), l.content("t"))
		_, err := l.write("t", upsert, strings.Replace(row(1), `"key":"k1"`, `"key":null`, 1))
		require.ErrorContains(t, err, "st.key")
	}
}
