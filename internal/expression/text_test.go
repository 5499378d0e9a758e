package expression_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		``:                            `true`,
		"  \n":                        `true`,
		`TRUE`:                        `true`,
		`i = 1 OR true`:               `true`,
		`NOT false AND i = 1`:         `{"type":"eq","term":"i","value":1}`,
		`i=-1`:                        `{"type":"eq","term":"i","value":-1}`,
		`i <> +007`:                   `{"type":"not-eq","term":"i","value":7}`,
		`d >= .5`:                     `{"type":"gt-eq","term":"d","value":0.5}`,
		`d < 1.e3`:                    `{"type":"lt","term":"d","value":1e3}`,
		`price = 1.250`:               `{"type":"eq","term":"price","value":1.250}`,
		`1 < i`:                       `{"type":"gt","term":"i","value":1}`,
		`true = flag`:                 `{"type":"eq","term":"flag","value":true}`,
		`s = 'it''s'`:                 `{"type":"eq","term":"s","value":"it's"}`,
		`"in"."n" = 1`:                `{"type":"eq","term":"in.n","value":1}`,
		`"in.n" = 1`:                  `{"type":"eq","term":"in.n","value":1}`,
		`l in (1, 2,3)`:               `{"type":"in","term":"l","values":[1,2,3]}`,
		`l NOT IN (1)`:                `{"type":"not","child":{"type":"in","term":"l","values":[1]}}`,
		`l BETWEEN 1 AND 5 AND i = 2`: `{"type":"and","left":{"type":"and","left":{"type":"gt-eq","term":"l","value":1},"right":{"type":"lt-eq","term":"l","value":5}},"right":{"type":"eq","term":"i","value":2}}`,
		`l NOT BETWEEN 1 AND 5`:       `{"type":"or","left":{"type":"not","child":{"type":"gt-eq","term":"l","value":1}},"right":{"type":"not","child":{"type":"lt-eq","term":"l","value":5}}}`,
		`s LIKE 'x%'`:                 `{"type":"starts-with","term":"s","value":"x"}`,
		`s NOT LIKE '5\%\_\\%'`:       `{"type":"not","child":{"type":"starts-with","term":"s","value":"5%_\\"}}`,
		`list IS NULL`:                `{"type":"is-null","term":"list"}`,
		`f IS NOT NAN`:                `{"type":"not-nan","term":"f"}`,
		`day < DATE '2026-01-31'`:     `{"type":"lt","term":"day","value":"2026-01-31"}`,
		`at >= date '2026-01-31'`:     `{"type":"gt-eq","term":"at","value":"2026-01-31T00:00:00"}`,
		`at >= TIMESTAMP '2026-01-31 12:34:56.5'`:     `{"type":"gt-eq","term":"at","value":"2026-01-31T12:34:56.5"}`,
		`atz >= TIMESTAMPTZ '2026-01-31 12:34:56+02'`: `{"type":"gt-eq","term":"atz","value":"2026-01-31T12:34:56+02:00"}`,
		`atz = '2026-01-31 12:34:56'`:                 `{"type":"eq","term":"atz","value":"2026-01-31T12:34:56+00:00"}`,
		`atz = '2026-01-31 12:34:56+02:00'`:           `{"type":"eq","term":"atz","value":"2026-01-31T12:34:56+02:00"}`,
		`clock > TIME '10:00'`:                        `{"type":"gt","term":"clock","value":"10:00"}`,
		`i = 1 OR i = 2 AND i = 3`:                    `{"type":"or","left":{"type":"eq","term":"i","value":1},"right":{"type":"and","left":{"type":"eq","term":"i","value":2},"right":{"type":"eq","term":"i","value":3}}}`,
		`(i = 1 OR i = 2) AND NOT i = 3`:              `{"type":"and","left":{"type":"or","left":{"type":"eq","term":"i","value":1},"right":{"type":"eq","term":"i","value":2}},"right":{"type":"not","child":{"type":"eq","term":"i","value":3}}}`,
	} {
		f, err := expression.ParseText(text, schema())
		require.NoError(t, err, text)
		assert.JSONEq(t, want, string(f.JSON()), text)
	}
}

func TestTextThatCannotBe(t *testing.T) {
	for text, says := range map[string]string{
		`i =`:                                  "character 4: expected a value such as 'text', 12, 1.5, TRUE or DATE '2026-01-31', found the end",
		`i = l`:                                "character 5: expected a value",
		`é = 1 AND nope`:                       `"é"`,
		`s = 'é' AND nope = 1`:                 `"nope", which the table's schema does not have. It is at character 13 of the filter.`,
		`I = 1`:                                `"I"`,
		`list.element = 'x'`:                   `within a list or map`,
		`i = 'x'`:                              `It is at character 1 of the filter.`,
		`i = 1 i = 2`:                          "character 7: expected AND, OR or the end, found i",
		`(i = 1`:                               "character 7: expected AND, OR or ), found the end",
		`i = 1)`:                               "character 6: expected AND, OR or the end, found )",
		`i = NULL`:                             "character 5: nothing compares with NULL; use IS NULL or IS NOT NULL",
		`i IN (1, NULL)`:                       "character 10: nothing compares with NULL",
		`i IN ()`:                              "character 7: expected a value",
		`i IN (1 2)`:                           "character 9: expected , or ), found 2",
		`i IN 1`:                               "character 6: expected ( and a list of values",
		`i BETWEEN 1 OR 2`:                     "character 13: expected AND and the upper end, found OR",
		`s LIKE 'x'`:                           "character 8: LIKE takes a pattern with one %, at its end",
		`s LIKE '%x%'`:                         "character 8: LIKE takes",
		`s LIKE 'x_%'`:                         "character 8: LIKE takes",
		`s LIKE 'x\%'`:                         "character 8: LIKE takes",
		`s LIKE 5`:                             "character 8: expected a pattern in single quotes, found 5",
		`i LIKE '5%'`:                          `how column "i" starts`,
		`i IS 5`:                               "character 6: expected NULL or NAN, found 5",
		`i IS NAN`:                             `"i" for NaN`,
		`i`:                                    "character 2: expected a test such as",
		`NOT`:                                  "character 4: expected the name of a column, found the end",
		`5 i`:                                  "character 3: expected one of = <> < <= > >=, found i",
		`s = 'x`:                               "character 5: the text that starts here does not end; close it with '",
		`"s = 1`:                               `character 1: the name that starts here does not end; close it with "`,
		`i = 1; DROP TABLE x`:                  "character 6: ';' means nothing here",
		`i = 5x`:                               "character 6: expected a space after the number",
		`d = 5e`:                               "character 7: expected the digits of an exponent",
		`i = - x`:                              "character 7: expected a number after -, found x",
		`i . = 1`:                              "character 5: expected the name of a column, found =",
		`day = DATE '2026-13-01'`:              `"day"`,
		strings.Repeat("(", 5000):              "brackets and NOT nest deeper than 100",
		strings.Repeat("NOT ", 5000) + "i = 1": "brackets and NOT nest deeper than 100",
		"s = '" + strings.Repeat("x", 300_000): "longer than the limit",
		"\xff":                                 "UTF-8",
	} {
		_, err := expression.ParseText(text, schema())
		require.Equal(t, fault.Invalid, fault.CodeOf(err), "%.80q: %v", text, err)
		assert.Contains(t, fault.PublicMessage(err), says, "%.80q", text)
		assert.Regexp(t, `\.$`, fault.PublicMessage(err))
	}
}

// A chain nests by halves, so that a long one is no deep one.
func TestLongChains(t *testing.T) {
	var parts []string
	for n := range 2000 {
		parts = append(parts, fmt.Sprintf("l = %d", n))
	}
	f, err := expression.ParseText(strings.Join(parts, " OR "), schema())
	require.NoError(t, err)
	b := batch{rows: 2, arrays: map[int]arrow.Array{3: columns()[2].array([]any{whole(1999), whole(2000)})}}
	assert.Equal(t, []int{0}, selected(t, f, b))
}

func TestNamesWithDotsAndKeywords(t *testing.T) {
	s := metadata.Schema{Fields: []metadata.Field{
		{ID: 1, Path: "a.b", Type: "long"}, {ID: 2, Path: "between", Type: "long"}, {ID: 3, Path: "date", Type: "date"}, {ID: 4, Path: `say "so"`, Type: "long"}, {ID: 5, Path: "true", Type: "boolean"},
	}}
	f, err := expression.ParseText(`"a.b" = 1 AND between BETWEEN 1 AND 2 AND date > DATE '2026-01-31' AND "say ""so""" = 4 AND "true" = TRUE`, s)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 3, 4, 5}, f.Columns())
}
