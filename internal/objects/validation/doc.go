// Package validation tries what Sluice and engines need of a catalog's object store, one step after the other, and says
// of each what works or what is wrong and why: reading and writing with Sluice's keys, uploads in parts, temporary keys
// that open one folder and nothing beside it, and signed requests.
//
// It makes a few small objects in a folder of its own below the catalog's base location, and removes them.
//
// Of ours it may import models, internal/fault, and internal/objects with its vending and signing; beside them the error
// types of the AWS SDK.
package validation
