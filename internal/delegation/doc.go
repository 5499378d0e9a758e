// Package delegation lets engines at the files of tables: it chooses the way in, by temporary keys or by signed requests, from
// what an engine asks for, what the catalog allows and what its object store can, and says it in the properties of Iceberg's
// clients. What may be done with the files was decided before, by internal/policy; that no more is opened is seen to by
// internal/objects/vending and internal/objects/signing.
//
// Of ours it may import models, internal/fault, internal/catalog, whose port it implements, internal/objects and its vending
// and signing.
package delegation
