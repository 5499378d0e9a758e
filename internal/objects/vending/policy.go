package vending

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// maxPolicy is how long an inline session policy may be, in characters.
const maxPolicy = 2048

// document is a session policy.
type document struct {
	Version   string
	Statement []statement
}

// statement is one of a policy's. Empty members are left out, and lists of one are written as that one.
type statement struct {
	Effect    string
	Action    oneOrMore
	Resource  oneOrMore
	Condition map[string]map[string]oneOrMore `json:",omitempty"`
}

// oneOrMore saves the brackets around a single value.
type oneOrMore []string

// MarshalJSON implements json.Marshaler.
func (v oneOrMore) MarshalJSON() ([]byte, error) {
	if len(v) == 1 {
		return plainJSON(v[0])
	}
	return plainJSON([]string(v))
}

// plainJSON writes JSON without the escapes that HTML would need.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// SessionPolicy gives the inline policy that leaves of a role's rights those of the access:
//
//   - objects strictly below an area may be read, put and deleted as the rights say, the innermost area deciding about
//     reading: an inner area that may not be read is denied, one that alone may be read is all that is allowed;
//   - prefixes may be listed that begin with an area and a slash, where all below may be read. The area without the slash
//     may not: stores compare prefixes by character, and that one begins the names of neighbours too.
//
// Errors are fault.Forbidden for an access without rights, fault.Unprocessable where the policy would be longer than
// stores take or cannot say what the access says.
func SessionPolicy(c models.StorageConfig, access models.StorageAccess) (string, error) {
	if !access.Rights.Any() {
		return "", fault.New(fault.Forbidden, "You have no right on the files of table %s.", access.Table)
	}
	all := readAreas(access)
	if len(all) == 0 {
		return "", fault.New(fault.Unprocessable, "Table %s has no location in an S3 store, so that there are no keys to give for it.", access.Table)
	}
	if !amazon(c) && all.hold("*?$") {
		return "", fault.New(fault.Unprocessable, "The locations of table %s have a *, ? or $, which only Amazon's session policies can say. Use remote signing, or other locations.", access.Table)
	}
	arn := "arn:" + partition(c) + ":s3:::"
	doc := document{Version: "2012-10-17", Statement: onObjects(all, access.Rights, arn)}
	if hidden, inner := all.hidden(); hidden != nil {
		if inner {
			return "", fault.New(fault.Unprocessable, "The locations of table %s lie within one another in a way that no session policy can say. Use remote signing.", access.Table)
		}
		doc.Statement = append(doc.Statement, statement{Effect: "Deny", Action: oneOrMore{"s3:GetObject"}, Resource: objectsIn(hidden, arn)})
	}
	doc.Statement = append(doc.Statement, onBuckets(all, arn)...)
	doc.Statement = append(doc.Statement, onKeys(c)...)
	text, err := plainJSON(doc)
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "The session policy of table %s could not be written.", access.Table)
	}
	if len(text) > maxPolicy {
		return "", fault.New(fault.Unprocessable, "The locations of table %s are too long or too many for a session policy, which may have %d characters. Use remote signing, or shorter locations.", access.Table, maxPolicy)
	}
	return string(text), nil
}

// partition gives the part of Amazon that a role is in.
func partition(c models.StorageConfig) string {
	if rest, ok := strings.CutPrefix(c.RoleARN, "arn:"); ok {
		name, _, _ := strings.Cut(rest, ":")
		switch name {
		case "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-eusc":
			return name
		}
	}
	return "aws"
}

// onObjects allows reading where it is allowed, and writing everywhere; in one statement where that is the same.
func onObjects(all areas, r models.StorageRights, arn string) []statement {
	var writing oneOrMore
	if r.Write {
		writing = oneOrMore{"s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}
	}
	if r.Write && r.Delete {
		writing = append(writing, "s3:DeleteObject")
	}
	reading, outer := all.readingRoots(), all.roots()
	switch {
	case len(writing) == 0:
		return allow(reading, arn, "s3:GetObject")
	case slices.Equal(reading, outer):
		return allow(outer, arn, append(oneOrMore{"s3:GetObject"}, writing...)...)
	}
	return append(allow(reading, arn, "s3:GetObject"), allow(outer, arn, writing...)...)
}

// allow allows actions on all objects in some areas; nothing where there are none.
func allow(in areas, arn string, actions ...string) []statement {
	if len(in) == 0 {
		return nil
	}
	return []statement{{Effect: "Allow", Action: actions, Resource: objectsIn(in, arn)}}
}

// objectsIn gives the resource names of all objects in areas.
func objectsIn(in areas, arn string) oneOrMore {
	out := make(oneOrMore, len(in))
	for i, a := range in {
		out[i] = arn + a.at.Bucket() + "/" + below(a.at)
	}
	return out
}

// below gives the pattern of all keys in a location.
func below(at objects.Location) string {
	if at.Key() == "" {
		return "*"
	}
	return literal(at.Key()) + "/*"
}

// literal makes a pattern that only the key itself matches, by Amazon's escapes. Other stores take those for other keys.
func literal(key string) string {
	if !strings.ContainsAny(key, "*?$") {
		return key
	}
	return strings.NewReplacer("*", "${*}", "?", "${?}", "$", "${$}").Replace(key)
}

// onBuckets allows listing, and asking for the region of a bucket.
func onBuckets(all areas, arn string) []statement {
	listing := map[string]oneOrMore{} // prefixes by bucket
	var buckets oneOrMore
	for _, a := range all {
		name := a.at.Bucket()
		if !slices.Contains(buckets, arn+name) {
			buckets = append(buckets, arn+name)
		}
		if a.listable && (a.parent < 0 || !all[a.parent].listable) {
			listing[name] = append(listing[name], below(a.at))
		}
	}
	var out []statement
	for _, bucket := range buckets {
		prefixes := listing[strings.TrimPrefix(bucket, arn)]
		if len(prefixes) == 0 {
			continue
		}
		out = append(out, statement{
			Effect: "Allow", Action: oneOrMore{"s3:ListBucket"}, Resource: oneOrMore{bucket},
			Condition: map[string]map[string]oneOrMore{"StringLike": {"s3:prefix": prefixes}},
		})
	}
	return append(out, statement{Effect: "Allow", Action: oneOrMore{"s3:GetBucketLocation"}, Resource: buckets})
}

// onKeys allows the encryption keys that the configuration names.
func onKeys(c models.StorageConfig) []statement {
	var keys oneOrMore
	for _, key := range append([]string{c.CurrentKMSKey}, c.AllowedKMSKeys...) {
		if strings.HasPrefix(key, "arn:") && !slices.Contains(keys, literal(key)) {
			keys = append(keys, literal(key))
		}
	}
	if len(keys) == 0 || c.KMSUnavailable {
		return nil
	}
	return []statement{{Effect: "Allow", Action: oneOrMore{"kms:Decrypt", "kms:GenerateDataKey", "kms:DescribeKey"}, Resource: keys}}
}
