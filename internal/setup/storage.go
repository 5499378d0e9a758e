package setup

import (
	"maps"
	"slices"
	"strings"
)

// Storage says how a catalog's object store is reached, by the members of the management API's storageConfigInfo but
// for its locations: text, bool or []string. What is not there is not said.
type Storage map[string]any

// storageMember is one member of Storage.
type storageMember struct {
	key  string // in a file
	wire string // in the management API
	kind valueKind
}

type valueKind int

const (
	textValue valueKind = iota
	flagValue
	listValue
)

// storageTypeMember is the member that says which kind of store it is.
const storageTypeMember = "storageType"

// storageMembers gives every member that a file can have, in the order of an export.
func storageMembers() []storageMember {
	return []storageMember{
		{"storage_type", storageTypeMember, textValue},
		{"storage_name", "storageName", textValue},
		{"role_arn", "roleArn", textValue},
		{"external_id", "externalId", textValue},
		{"user_arn", "userArn", textValue},
		{"region", "region", textValue},
		{"endpoint", "endpoint", textValue},
		{"endpoint_internal", "endpointInternal", textValue},
		{"sts_endpoint", "stsEndpoint", textValue},
		{"sts_unavailable", "stsUnavailable", flagValue},
		{"kms_unavailable", "kmsUnavailable", flagValue},
		{"path_style_access", "pathStyleAccess", flagValue},
		{"current_kms_key", "currentKmsKey", textValue},
		{"allowed_kms_keys", "allowedKmsKeys", listValue},
		{"tenant_id", "tenantId", textValue},
		{"multi_tenant_app_name", "multiTenantAppName", textValue},
		{"consent_url", "consentUrl", textValue},
		{"hierarchical", "hierarchical", flagValue},
		{"service_account", "gcsServiceAccount", textValue},
	}
}

// ReadStorage takes from a storageConfigInfo what a file can say of it.
func ReadStorage(info map[string]any) Storage {
	s := Storage{}
	for _, m := range storageMembers() {
		switch v := info[m.wire].(type) {
		case string:
			if v != "" && m.kind == textValue {
				s[m.wire] = v
			}
		case bool:
			if m.kind == flagValue {
				s[m.wire] = v
			}
		case []any:
			if list := texts(v); m.kind == listValue && len(list) > 0 {
				s[m.wire] = list
			}
		}
	}
	return s
}

func texts(values []any) []string {
	var list []string
	for _, v := range values {
		if text, ok := v.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// differences names the members of wanted that current has otherwise, by their names in a file. A member that is
// absent is empty or false.
func (s Storage) differences(wanted Storage) []string {
	var names []string
	for _, m := range storageMembers() {
		want, said := wanted[m.wire]
		if said && !sameValue(m.kind, s[m.wire], want) {
			names = append(names, m.key)
		}
	}
	return names
}

func sameValue(kind valueKind, have, want any) bool {
	switch kind {
	case flagValue:
		h, _ := have.(bool)
		w, _ := want.(bool)
		return h == w
	case listValue:
		h, _ := have.([]string)
		w, _ := want.([]string)
		return slices.Equal(slices.Sorted(slices.Values(h)), slices.Sorted(slices.Values(w)))
	}
	h, _ := have.(string)
	w, _ := want.(string)
	return h == w
}

// with gives the storage with what wanted says.
func (s Storage) with(wanted Storage) Storage {
	merged := Storage{}
	maps.Copy(merged, s)
	maps.Copy(merged, wanted)
	return merged
}

// sameLocation compares locations as a store does: the schemes of S3 are one, and a last slash says nothing.
func sameLocation(a, b string) bool { return plainLocation(a) == plainLocation(b) }

func plainLocation(location string) string {
	location = strings.TrimRight(location, "/")
	for _, scheme := range []string{"s3a://", "s3n://"} {
		if rest, ok := strings.CutPrefix(location, scheme); ok {
			return "s3://" + rest
		}
	}
	// A local path has no host: file:/x, file:///x and /x are one.
	if rest, ok := strings.CutPrefix(location, "file:"); ok {
		return "file:///" + strings.TrimLeft(rest, "/")
	}
	return location
}
