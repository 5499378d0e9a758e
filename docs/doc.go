// Package docs holds the documentation and the tests that keep it true: the folder map, links, commands, routes,
// settings, events and metrics it names are compared with the code. It exports nothing; its tests import
// internal/config and models.
package docs
