// Package wire is what the handlers of every API share: reading a JSON body field by field, the caller of a request,
// path names decoded once, and answers. It imports internal/fault and internal/policy.
package wire
