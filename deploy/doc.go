// Package deploy holds what the compose file mounts, alert rules for Prometheus and
// a dashboard for Grafana, and the tests that keep these, docker-compose.yml and the
// Dockerfile honest where no container engine is at hand. It exports nothing; its
// tests import internal/config, internal/telemetry and models.
package deploy
