// Package vending gives engines temporary keys of S3-compatible stores for the files of one table, by AssumeRole with an
// inline session policy that says which prefixes and what on them.
//
// A session policy cannot keep a writer from replacing an object: s3:PutObject is both. Where that matters requests are
// signed one by one (package signing), or replaced files are noticed afterwards. Keys cannot be taken back: they live as
// long as they were given for.
//
// Of ours it may import models, internal/fault and internal/objects; beside them the STS client of the AWS SDK, which
// other stores' AssumeRole understands as well.
package vending
