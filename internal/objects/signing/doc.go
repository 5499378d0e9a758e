// Package signing signs requests to S3-compatible stores with Sluice's keys, for engines that have none. What a request
// does is read from a closed list of operations, its objects must lie in the areas of one table, and its rights are those
// of models.StorageAccess; whatever is not understood is refused.
//
// A signature covers the method, the whole URI, the host, all x-amz-* headers, Content-Type, Content-MD5 and, for writes,
// their conditions. It covers no other header: what differs between attempts and clients (Range, Expect, User-Agent,
// Connection, amz-sdk-*) may not break it. The store must refuse x-amz-* headers that are not signed, as Amazon's and the
// embedded gateway do: otherwise a signed PUT could be made a copy of somebody else's object.
//
// Without the right to overwrite, writes are signed with the condition If-None-Match: *, which the store checks. A client
// that repeats such a PUT because its answer was lost is told 412 and must write under another name, as engines do.
//
// Of ours it may import models, internal/fault and internal/objects; beside them the signer of the AWS SDK.
package signing
