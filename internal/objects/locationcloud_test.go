package objects

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestParseGivesOneNameToOnePlaceInAzureAndGoogleCloud(t *testing.T) {
	for in, want := range map[string]string{
		"abfss://lake@account.dfs.core.windows.net/wh/t":         "abfss://lake@account.dfs.core.windows.net/wh/t",
		"abfs://lake@account.dfs.core.windows.net/wh/t":          "abfss://lake@account.dfs.core.windows.net/wh/t",
		"ABFSS://lake@account.dfs.core.windows.net/wh/t/":        "abfss://lake@account.dfs.core.windows.net/wh/t",
		"wasbs://lake@account.blob.core.windows.net/wh/t":        "abfss://lake@account.dfs.core.windows.net/wh/t",
		"wasb://lake@account.blob.core.windows.net/wh/t":         "abfss://lake@account.dfs.core.windows.net/wh/t",
		"abfss://lake@account.blob.core.windows.net/wh/t":        "abfss://lake@account.dfs.core.windows.net/wh/t",
		"abfss://lake@account.dfs.core.windows.net":              "abfss://lake@account.dfs.core.windows.net",
		"abfss://lake@account.dfs.core.windows.net/":             "abfss://lake@account.dfs.core.windows.net",
		"abfss://lake@account.dfs.core.usgovcloudapi.net/x":      "abfss://lake@account.dfs.core.usgovcloudapi.net/x",
		"wasbs://lake@account.z01.blob.storage.azure.net/x":      "abfss://lake@account.z01.dfs.storage.azure.net/x",
		"abfss://a-b-c@dfs.dfs.core.windows.net/p=a%2Fb/x y+z:ü": "abfss://a-b-c@dfs.dfs.core.windows.net/p=a%2Fb/x y+z:ü",
		"gs://bucket/wh/t":                        "gs://bucket/wh/t",
		"GS://bucket/wh/t/":                       "gs://bucket/wh/t",
		"gs://my_bucket.example.com/x":            "gs://my_bucket.example.com/x",
		"gs://" + longest(200) + ".example.com/x": "gs://" + longest(200) + ".example.com/x",
	} {
		loc, err := Parse(in)
		if assert.NoError(t, err, in) {
			assert.Equal(t, want, loc.String(), in)
			assert.Equal(t, loc, mustParse(t, loc.String()), "the normal form of %s names the same place", in)
		}
	}
}

func TestParseSaysWhatIsWrongInAzureAndGoogleCloud(t *testing.T) {
	const azure = "abfss://lake@account.dfs.core.windows.net/"
	for in, says := range map[string]string{
		"abfss:lake/x":                                    "no container and account",
		"abfss://account.dfs.core.windows.net/x":          "no container and account",
		"abfss://lake/x":                                  "no container and account",
		"abfss://@account.dfs.core.windows.net/x":         "3 to 63",
		"abfss://ab@account.dfs.core.windows.net/x":       "3 to 63",
		"abfss://Lake@account.dfs.core.windows.net/x":     "a-z",
		"abfss://$web@account.dfs.core.windows.net/x":     "a-z",
		"abfss://a--b@account.dfs.core.windows.net/x":     "hyphen",
		"abfss://-ab@account.dfs.core.windows.net/x":      "hyphen",
		"abfss://lake@Account.dfs.core.windows.net/x":     "account",
		"abfss://lake@account.dfs.core.Windows.net/x":     "account",
		"abfss://lake@account.file.core.windows.net/x":    "account",
		"abfss://lake@account.dfs/x":                      "account",
		"abfss://lake@account.dfs.core..net/x":            "account",
		"abfss://lake@account/x":                          "account",
		"abfss://lake@127.0.0.1:10000/x":                  "account",
		"abfss://lake@account.dfs.core.windows.net:443/x": "account",
		"abfss://lake@evil@account.dfs.core.net/x":        "account",
		"abfss://lake:pw@account.dfs.core.net/x":          "a-z",
		"abfss://lake%40x@account.dfs.core.net/x":         "a-z",
		azure + "a/../b":                                  "..",
		azure + "a/%2e%2e/b":                              "percent-encoding",
		azure + "a//b":                                    "empty path segment",
		azure + "a?sig=x":                                 "query",
		azure + "t1./x":                                   "ends with a dot",
		azure + "x.":                                      "ends with a dot",
		azure + longest(1025):                             "1024",
		"gs:bucket/x":                                     "use gs://bucket/path",
		"gs:///x":                                         "no bucket",
		"gs://Bucket/x":                                   "lower-case",
		"gs://" + longest(64) + "/x":                      "63",
		"gs://" + longest(222) + ".com/x":                 "222",
		"gs://bucket/../x":                                "..",
		"gs://bucket/" + longest(1025):                    "1024",
		"gcs://bucket/x":                                  "not supported",
	} {
		_, err := Parse(in)
		if assert.Error(t, err, in) {
			assert.Equal(t, fault.Invalid, fault.CodeOf(err), in)
			assert.Contains(t, fault.PublicMessage(err), says, in)
		}
	}
}

func TestWithinComparesAccountsAndContainers(t *testing.T) {
	for _, c := range []struct {
		prefix, loc string
		want        bool
	}{
		{"abfss://lake@account.dfs.core.windows.net/t1", "wasbs://lake@account.blob.core.windows.net/t1/x", true},
		{"wasb://lake@account.blob.core.windows.net", "abfs://lake@account.dfs.core.windows.net/x", true},
		{"abfss://lake@account.dfs.core.windows.net/t1", "abfss://lake@account.dfs.core.windows.net/t10/x", false},
		{"abfss://lake@account.dfs.core.windows.net", "abfss://lake2@account.dfs.core.windows.net/x", false},
		{"abfss://lake@account.dfs.core.windows.net", "abfss://lake@account2.dfs.core.windows.net/x", false},
		{"abfss://lake@account.dfs.core.windows.net", "abfss://lake@account.dfs.evil.example/x", false},
		{"gs://bucket/t1", "gs://bucket/t1/x", true},
		{"gs://bucket/t1", "gs://bucket/t10", false},
		{"gs://bucket", "s3://bucket/x", false},
	} {
		assert.Equal(t, c.want, WithinStrings(c.prefix, c.loc), "%s in %s", c.loc, c.prefix)
	}
}

func TestALocationKnowsItsAccount(t *testing.T) {
	loc := mustParse(t, "wasbs://lake@account.blob.core.windows.net/a/b")
	dfs, blob := loc.AccountHosts()
	assert.Equal(t, "account.dfs.core.windows.net", dfs)
	assert.Equal(t, "account.blob.core.windows.net", blob)
	assert.Equal(t, "lake", loc.Container())
	assert.Equal(t, "a/b", loc.Key())
	assert.True(t, loc.IsAzure())
	for _, other := range []string{"s3://lake@x", "gs://bucket/x", "/x"} {
		loc, _ := Parse(other)
		dfs, blob := loc.AccountHosts()
		assert.Empty(t, dfs+blob+loc.Container(), other)
	}
	joined, err := Join(mustParse(t, "abfss://lake@account.dfs.core.windows.net"), "x/y")
	require.NoError(t, err)
	assert.Equal(t, "abfss://lake@account.dfs.core.windows.net/x/y", joined.String())
}

func TestParseAllocatesNothingForANormalAzureLocation(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		WithinStrings("abfss://lake@account.dfs.core.windows.net/wh/t", "abfss://lake@account.dfs.core.windows.net/wh/t/data/p=1/a.parquet")
	}))
}
