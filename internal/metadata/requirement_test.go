package metadata_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

func TestRequirements(t *testing.T) {
	doc := golden(t, "v2")
	for _, c := range []struct {
		requirement, part string // part "": holds
	}{
		{`{"type":"assert-table-uuid","uuid":"9C12D441-03fe-4693-9a96-a0705ddf69c1"}`, ""},
		{`{"type":"assert-table-uuid","uuid":"x"}`, "Requirement failed: UUID does not match"},
		{`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":3055729675574597004}`, ""},
		{`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":1}`, "Requirement failed: branch main has changed"},
		{`{"type":"assert-ref-snapshot-id","ref":"old","snapshot-id":1}`, "Requirement failed: tag old has changed"},
		{`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}`, "Requirement failed: branch main was created concurrently"},
		{`{"type":"assert-ref-snapshot-id","ref":"main"}`, "Requirement failed: branch main was created concurrently"},
		{`{"type":"assert-ref-snapshot-id","ref":"new"}`, ""},
		{`{"type":"assert-ref-snapshot-id","ref":"new","snapshot-id":1}`, "Requirement failed: branch or tag new is missing"},
		{`{"type":"assert-last-assigned-field-id","last-assigned-field-id":6}`, ""},
		{`{"type":"assert-last-assigned-field-id","last-assigned-field-id":5}`, "Requirement failed: last assigned field id changed"},
		{`{"type":"assert-current-schema-id","current-schema-id":1}`, ""},
		{`{"type":"assert-current-schema-id","current-schema-id":0}`, "Requirement failed: current schema changed"},
		{`{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":1000}`, ""},
		{`{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":999}`, "Requirement failed: last assigned partition id changed"},
		{`{"type":"assert-default-spec-id","default-spec-id":0}`, ""},
		{`{"type":"assert-default-spec-id","default-spec-id":1}`, "Requirement failed: default partition spec changed"},
		{`{"type":"assert-default-sort-order-id","default-sort-order-id":3}`, ""},
		{`{"type":"assert-default-sort-order-id","default-sort-order-id":1}`, "Requirement failed: default sort order changed"},
	} {
		t.Run(c.requirement, func(t *testing.T) {
			reqs, err := metadata.DecodeRequirements(messages(c.requirement))
			require.NoError(t, err)
			require.False(t, metadata.AssertsCreate(reqs))
			err = metadata.Check(doc, reqs)
			if c.part == "" {
				require.NoError(t, err)
			} else {
				require.Equal(t, fault.Conflict, fault.CodeOf(err))
				require.Contains(t, err.Error(), c.part)
			}
			require.Equal(t, fault.Conflict, fault.CodeOf(metadata.Check(nil, reqs)), "no table, no other requirement holds")
		})
	}
}

func TestAssertCreate(t *testing.T) {
	reqs, err := metadata.DecodeRequirements(messages(` {"type":"assert-create"}`))
	require.NoError(t, err)
	require.True(t, metadata.AssertsCreate(reqs))
	require.NoError(t, metadata.Check(nil, reqs))
	err = metadata.Check(golden(t, "v2"), reqs)
	e, ok := errors.AsType[*fault.Error](err)
	require.True(t, ok)
	require.Equal(t, fault.AlreadyExists, e.Code)
	require.Equal(t, fault.Table, e.Subject)
	require.Contains(t, e.Message, "table already exists")
}

func TestAssertedUUID(t *testing.T) {
	reqs, err := metadata.DecodeRequirements(messages(`{"type":"assert-current-schema-id","current-schema-id":1}`, `{"type":"assert-table-uuid","uuid":"u"}`))
	require.NoError(t, err)
	uuid, ok := metadata.AssertedUUID(reqs)
	require.True(t, ok)
	require.Equal(t, "u", uuid)
	_, ok = metadata.AssertedUUID(reqs[:1])
	require.False(t, ok)
}

func TestRequirementRefused(t *testing.T) {
	for requirement, part := range map[string]string{
		`{"type":"assert-magic"}`:                            "unknown type assert-magic",
		`{"type":"assert-view-uuid","uuid":"x"}`:             "unknown type assert-view-uuid",
		`{"type":"current-schema-id","current-schema-id":1}`: "unknown type",
		`{"uuid":"x"}`:                      "field type",
		`[]`:                                "field type",
		`{"type":"assert-table-uuid"}`:      "field uuid",
		`{"type":"assert-ref-snapshot-id"}`: "field ref",
		`{"type":"assert-ref-snapshot-id","ref":"a","snapshot-id":""}`: "field snapshot-id",
		`{"type":"assert-current-schema-id"}`:                          "field current-schema-id",
		`{"type":`:                                                     "Cannot parse JSON",
	} {
		_, err := metadata.DecodeRequirements(messages(requirement))
		require.Equal(t, fault.Invalid, fault.CodeOf(err), requirement)
		require.Contains(t, err.Error(), part)
	}
}
