// Package events is how audit events leave Sluice: the one JSON shape that they have in the API, in streams and in
// webhooks, and the feed that tells streams of those that were sealed.
//
// It may import models and internal/fault.
package events
