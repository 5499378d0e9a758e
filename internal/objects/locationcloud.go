package objects

import "strings"

const (
	// hostDFS and hostBlob are the labels of the two hosts of an Azure storage account. Both show the same objects.
	hostDFS  = "dfs"
	hostBlob = "blob"

	noContainer = "it has no container and account; use abfss://container@account.dfs.core.windows.net/path"
)

// isAzure knows the names of the scheme.
func isAzure(scheme string) bool {
	return strings.EqualFold(scheme, "abfss") || strings.EqualFold(scheme, "abfs") ||
		strings.EqualFold(scheme, "wasbs") || strings.EqualFold(scheme, "wasb")
}

// withContainerAndKey reads what follows "abfss:".
func (l Location) withContainerAndKey(rest string) (Location, string) {
	authority, found := strings.CutPrefix(rest, "//")
	if !found {
		return l, noContainer
	}
	authority, key, _ := strings.Cut(authority, "/")
	container, host, found := strings.Cut(authority, "@")
	if !found {
		return l, noContainer
	}
	if wrong := checkContainer(container); wrong != "" {
		return l, wrong
	}
	kind, wrong := checkAccountHost(host)
	if wrong != "" {
		return l, wrong
	}
	l.bucket = authority
	if kind == hostBlob {
		l.bucket = container + "@" + otherHost(host, hostBlob, hostDFS)
	}
	if l, wrong = l.withKey(key, maxKey); wrong != "" {
		return l, wrong
	}
	for segment := range strings.SplitSeq(l.key, "/") {
		if strings.HasSuffix(segment, ".") {
			return l, "it has a path segment that ends with a dot, which Azure does not keep"
		}
	}
	return l, ""
}

// checkContainer refuses the containers that Azure does not allow, and those of its own such as $web.
func checkContainer(name string) string {
	switch {
	case len(name) < 3 || len(name) > maxBucket:
		return "its container name is not of 3 to 63 characters"
	case strings.Trim(name, "-") != name || strings.Contains(name, "--"):
		return "its container name begins or ends with a hyphen, or has two in a row"
	case !lowerOrDigits(name, '-'):
		return "its container name has a character other than a-z, 0-9 and hyphen"
	}
	return ""
}

// checkAccountHost reads account.dfs.suffix or account.blob.suffix, with a zone such as z01 after the account where there
// is one, and gives which of the two it is.
func checkAccountHost(host string) (kind, wrong string) {
	const malformed = "its account is not one such as account.dfs.core.windows.net"
	account, rest, _ := strings.Cut(host, ".")
	if len(account) < 3 || len(account) > 24 || !lowerOrDigits(account, 'a') {
		return "", malformed + ", with 3 to 24 lower-case letters and digits before the first dot"
	}
	kind, suffix, _ := strings.Cut(rest, ".")
	if len(kind) == 3 && kind[0] == 'z' && lowerOrDigits(kind, 'a') {
		kind, suffix, _ = strings.Cut(suffix, ".")
	}
	if kind != hostDFS && kind != hostBlob || len(suffix) > 200 || !strings.Contains(suffix, ".") {
		return "", malformed
	}
	for label := range strings.SplitSeq(suffix, ".") {
		if label == "" || strings.Trim(label, "-") != label || !lowerOrDigits(label, '-') {
			return "", malformed
		}
	}
	return kind, ""
}

// lowerOrDigits tells whether all characters are a-z, 0-9 or the one more.
func lowerOrDigits(s string, more byte) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != more {
			return false
		}
	}
	return true
}

// otherHost gives the account's host of the other kind.
func otherHost(host, from, to string) string {
	return strings.Replace(host, "."+from+".", "."+to+".", 1)
}

// IsGCS tells whether the location is in Google Cloud Storage.
func (l Location) IsGCS() bool { return l.scheme == schemeGCS }

// IsAzure tells whether the location is in Azure Blob Storage or Data Lake Storage.
func (l Location) IsAzure() bool { return l.scheme == schemeAzure }

// Scheme gives the scheme of the normal form: file, s3, gs or abfss; "" for the zero value.
func (l Location) Scheme() string { return l.scheme }

// Container gives the Azure container, "" for anything else.
func (l Location) Container() string {
	if !l.IsAzure() {
		return ""
	}
	name, _, _ := strings.Cut(l.bucket, "@")
	return name
}

// AccountHosts gives the two hosts of the Azure account, such as account.dfs.core.windows.net and
// account.blob.core.windows.net; "" for anything else.
func (l Location) AccountHosts() (dfs, blob string) {
	if !l.IsAzure() {
		return "", ""
	}
	_, dfs, _ = strings.Cut(l.bucket, "@")
	return dfs, otherHost(dfs, hostDFS, hostBlob)
}
