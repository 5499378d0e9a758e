// Package s3gateway is the S3 endpoint of `sluice serve`: it serves the folders of a local warehouse as buckets, with
// temporary credentials whose session policy it enforces, so that a laptop shows vending and signing as a cloud does.
// Tests use it as a real S3 server.
//
// The S3 protocol (signatures, checksums, XML, policies) is versitygw's; only the operations that engines need are
// routed to it. The storage is the folder package's. STS is this package's own: AssumeRole on the same port gives
// credentials that are stateless, sealed into their session token under a key made of the root secret. They survive a
// restart, end when they expire, and cannot be revoked before, except by another root secret.
//
// Of ours it may import internal/fault and its own folder package; beside them versitygw, fiber and the AWS SDK's types.
package s3gateway
