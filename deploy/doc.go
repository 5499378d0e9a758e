// Package deploy holds what the compose file mounts, and the tests that keep
// docker-compose.yml and the Dockerfile honest where no container engine is at
// hand. It exports nothing; its tests import internal/config.
package deploy
