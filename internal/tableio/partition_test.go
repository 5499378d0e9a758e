package tableio_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/tableio"
)

// partitionsOf writes rows of one column and gives the values of the one partition field by the rows that have them.
func partitionsOf(t *testing.T, version int, kind, transform, rows string) map[string]string {
	t.Helper()
	s := newSite(t, version, `{"id":1,"name":"c","required":false,"type":"`+kind+`"}`, `{"source-id":1,"field-id":1000,"name":"p","transform":"`+transform+`"}`)
	s.commit(tableio.Delta{Adds: []*tableio.Written{s.write(tableio.FileOptions{}, s.batch(rows))}})
	out := map[string]string{}
	for _, e := range s.files().data {
		values := e.DataFile().Partition()
		require.Contains(t, values, 1000)
		rows := []string{}
		table := s.parquet(e.DataFile().FilePath())
		for _, chunk := range table.Column(0).Data().Chunks() {
			for i := range chunk.Len() {
				rows = append(rows, chunk.ValueStr(i))
			}
		}
		key := fmt.Sprint(values[1000])
		require.NotContains(t, out, key, "two files of one partition")
		out[key] = fmt.Sprint(rows)
	}
	return out
}

func TestPartitionValues(t *testing.T) {
	for _, c := range []struct {
		kind, transform, rows string
		want                  map[string]string
	}{
		{"int", "identity", `[{"c":3},{"c":-1},{"c":3},{}]`, map[string]string{"3": "[3 3]", "-1": "[-1]", "<nil>": "[(null)]"}},
		{"boolean", "identity", `[{"c":true},{"c":false},{"c":true}]`, map[string]string{"true": "[true true]", "false": "[false]"}},
		{"float", "identity", `[{"c":1.5},{"c":0.5}]`, map[string]string{"1.5": "[1.5]", "0.5": "[0.5]"}},
		{"double", "identity", `[{"c":-2.5}]`, map[string]string{"-2.5": "[-2.5]"}},
		{"string", "identity", `[{"c":"b"},{"c":""},{},{"c":"b"}]`, map[string]string{"b": "[b b]", "": "[]", "<nil>": "[(null)]"}},
		{"binary", "identity", `[{"c":"AAE="}]`, map[string]string{"[0 1]": "[AAE=]"}},
		{"fixed[2]", "identity", `[{"c":"AAE="}]`, map[string]string{"[0 1]": "[AAE=]"}},
		{"uuid", "identity", `[{"c":"f79c3e09-677c-4bbd-a479-3f349cb785e7"}]`, map[string]string{"f79c3e09-677c-4bbd-a479-3f349cb785e7": "[f79c3e09-677c-4bbd-a479-3f349cb785e7]"}},
		{"decimal(9,2)", "identity", `[{"c":"14.20"},{"c":"-1.50"}]`, map[string]string{"14.20": "[14.2]", "-1.50": "[-1.5]"}},
		{"decimal(38,4)", "identity", `[{"c":"-12345678901234567890.1234"}]`, map[string]string{"-12345678901234567890.1234": "[-12345678901234567890.1234]"}},
		{"date", "identity", `[{"c":"1969-12-31"}]`, map[string]string{"-1": "[1969-12-31]"}},
		{"time", "identity", `[{"c":"22:31:08"}]`, map[string]string{"81068000000": "[22:31:08.000000]"}},
		{"timestamp", "identity", `[{"c":"1969-12-31T23:59:59.999999"}]`, map[string]string{"-1": "[1969-12-31T23:59:59.999999]"}},
		{"timestamptz", "identity", `[{"c":"1970-01-01T00:00:01Z"}]`, map[string]string{"1000000": "[1970-01-01T00:00:01Z]"}},

		{"date", "year", `[{"c":"1969-12-31"},{"c":"2017-11-16"}]`, map[string]string{"-1": "[1969-12-31]", "47": "[2017-11-16]"}},
		{"date", "month", `[{"c":"1969-11-30"},{"c":"2017-11-16"}]`, map[string]string{"-2": "[1969-11-30]", "574": "[2017-11-16]"}},
		{"date", "day", `[{"c":"1969-12-31"}]`, map[string]string{"-1": "[1969-12-31]"}},
		{"timestamp", "year", `[{"c":"1969-12-31T23:59:59.999999"}]`, map[string]string{"-1": "[1969-12-31T23:59:59.999999]"}},
		{"timestamp", "month", `[{"c":"1969-12-31T23:59:59.999999"}]`, map[string]string{"-1": "[1969-12-31T23:59:59.999999]"}},
		{"timestamptz", "day", `[{"c":"1969-12-31T23:59:59.999999Z"},{"c":"2017-11-16T22:31:08Z"}]`, map[string]string{"-1": "[1969-12-31T23:59:59.999999Z]", "17486": "[2017-11-16T22:31:08Z]"}},
		{"timestamptz", "hour", `[{"c":"1969-12-31T22:59:59Z"},{"c":"2017-11-16T22:31:08Z"}]`, map[string]string{"-2": "[1969-12-31T22:59:59Z]", "419686": "[2017-11-16T22:31:08Z]"}},

		{"int", "truncate[10]", `[{"c":1},{"c":-1},{"c":10}]`, map[string]string{"0": "[1]", "-10": "[-1]", "10": "[10]"}},
		{"long", "truncate[10]", `[{"c":-11},{"c":-20}]`, map[string]string{"-20": "[-11 -20]"}},
		{"decimal(9,2)", "truncate[50]", `[{"c":"10.65"},{"c":"-0.05"}]`, map[string]string{"10.50": "[10.65]", "-0.50": "[-0.05]"}},
		{"string", "truncate[3]", `[{"c":"iceberg"},{"c":"ice"},{"c":"äöüß"}]`, map[string]string{"ice": "[iceberg ice]", "äöü": "[äöüß]"}},
		{"binary", "truncate[1]", `[{"c":"AAE="},{"c":""}]`, map[string]string{"[0]": "[AAE=]", "[]": "[]"}},

		// The hashes are those of the Iceberg specification.
		{"int", "bucket[1000]", `[{"c":34}]`, map[string]string{"379": "[34]"}},
		{"long", "bucket[1000]", `[{"c":34},{}]`, map[string]string{"379": "[34]", "<nil>": "[(null)]"}},
		{"decimal(9,2)", "bucket[1000]", `[{"c":"14.20"}]`, map[string]string{bucketOf(-500754589): "[14.2]"}},
		{"date", "bucket[1000]", `[{"c":"2017-11-16"}]`, map[string]string{bucketOf(-653330422): "[2017-11-16]"}},
		{"time", "bucket[1000]", `[{"c":"22:31:08"}]`, map[string]string{bucketOf(-662762989): "[22:31:08.000000]"}},
		{"timestamp", "bucket[1000]", `[{"c":"2017-11-16T22:31:08"}]`, map[string]string{bucketOf(-2047944441): "[2017-11-16T22:31:08]"}},
		{"timestamptz", "bucket[1000]", `[{"c":"2017-11-16T22:31:08.000001Z"}]`, map[string]string{bucketOf(-1207196810): "[2017-11-16T22:31:08.000001Z]"}},
		{"string", "bucket[1000]", `[{"c":"iceberg"}]`, map[string]string{bucketOf(1210000089): "[iceberg]"}},
		{"uuid", "bucket[1000]", `[{"c":"f79c3e09-677c-4bbd-a479-3f349cb785e7"}]`, map[string]string{bucketOf(1488055340): "[f79c3e09-677c-4bbd-a479-3f349cb785e7]"}},
		{"binary", "bucket[1000]", `[{"c":"AAECAw=="}]`, map[string]string{bucketOf(-188683207): "[AAECAw==]"}},
		{"fixed[4]", "bucket[1000]", `[{"c":"AAECAw=="}]`, map[string]string{bucketOf(-188683207): "[AAECAw==]"}},
	} {
		t.Run(c.kind+" "+c.transform, func(t *testing.T) {
			for version := 1; version <= 3; version++ {
				require.Equal(t, c.want, partitionsOf(t, version, c.kind, c.transform, c.rows), "v%d", version)
			}
		})
	}
}

func bucketOf(hash int32) string { return fmt.Sprint((hash & 0x7fffffff) % 1000) }

func TestPartitionValuesOfNanoseconds(t *testing.T) {
	for transform, want := range map[string]string{
		"identity": "1510871468000001001", "day": "17486", "hour": "419686", "year": "47", "month": "574", "bucket[1000]": bucketOf(-1207196810),
	} {
		rows := `[{"c":"2017-11-16T22:31:08.000001001"}]`
		require.Equal(t, []string{want}, slices.Collect(maps.Keys(partitionsOf(t, 3, "timestamp_ns", transform, rows))), transform)
	}
}

func TestPartitionsOfSeveralFields(t *testing.T) {
	for version := 1; version <= 3; version++ {
		s := newSite(t, version,
			`{"id":1,"name":"a","required":false,"type":"string"},{"id":2,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":3,"name":"b","required":false,"type":"int"}]}}`,
			`{"source-id":1,"field-id":1000,"name":"a","transform":"identity"},{"source-id":1,"field-id":1001,"name":"gone","transform":"void"},{"source-id":3,"field-id":1002,"name":"b","transform":"truncate[10]"}`)
		s.commit(tableio.Delta{Adds: []*tableio.Written{s.write(tableio.FileOptions{}, s.batch(
			`[{"a":"x","s":{"b":1}},{"a":"y","s":{"b":1}},{"a":"x","s":{"b":12}},{"a":"x","s":{"b":2}},{"a":"x","s":null},{"a":"x","s":{"b":null}},{"a":null,"s":{"b":3}}]`))}})
		got := map[string]int64{}
		for _, e := range s.files().data {
			p := e.DataFile().Partition()
			got[fmt.Sprintf("%v %v %v", p[1000], p[1001], p[1002])] = e.DataFile().Count()
		}
		require.Equal(t, map[string]int64{"x <nil> 0": 2, "y <nil> 0": 1, "x <nil> 10": 1, "x <nil> <nil>": 2, "<nil> <nil> 0": 1}, got)
		list := s.files().manifests[0].Partitions()
		require.True(t, list[0].ContainsNull)
		require.Equal(t, "x", string(*list[0].LowerBound))
		require.Equal(t, "y", string(*list[0].UpperBound))
		require.Nil(t, list[1].LowerBound)
	}
}

func TestAPartitionThatIsNotComputedHere(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	s.doc = s.rewritten(`"fields":[]}]`, `"fields":[{"source-id":1,"field-id":1000,"name":"z","transform":"zorder[4]"}]}]`)
	_, err := s.io().NewFileWriter(t.Context(), s.doc, tableio.FileOptions{})
	require.True(t, fault.Is(err, fault.Unsupported), "%v", err)
	require.ErrorContains(t, err, "partitioned by z")
}

// Java takes a range without a lower bound for one of NULLs alone, and skips the manifest.
func TestTheRangeOfAPartitionBeginsWithTheEmptyText(t *testing.T) {
	for version := 1; version <= 3; version++ {
		for _, of := range []string{"string", "binary"} {
			s := newSite(t, version, `{"id":1,"name":"a","required":false,"type":"`+of+`"}`, `{"source-id":1,"field-id":1000,"name":"a","transform":"identity"}`)
			rows := s.write(tableio.FileOptions{}, s.batch(`[{"a":""},{"a":"QUJD"},{"a":null}]`))
			ref, err := s.write(tableio.FileOptions{}, s.batch(`[{"a":""}]`)).Manifest(t.Context())
			require.NoError(t, err)
			s.commit(tableio.Delta{Adds: []*tableio.Written{rows}, Manifests: []tableio.ManifestRef{ref}})
			for range 2 {
				for _, m := range s.files().manifests {
					low, high := m.Partitions()[0].LowerBound, m.Partitions()[0].UpperBound
					require.NotNil(t, low, "v%d %s", version, of)
					require.NotNil(t, high)
					require.Empty(t, *low)
				}
				s.commit(tableio.Delta{Adds: []*tableio.Written{s.write(tableio.FileOptions{}, s.batch(`[{"a":""}]`))}}) // the others are carried on
			}
		}
	}
}
