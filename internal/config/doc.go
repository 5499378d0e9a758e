// Package config holds Sluice's settings: one struct, its defaults, where each
// setting may be given (flag, environment, YAML file, in this order of
// precedence) and what makes a configuration usable. Every setting is one entry
// of (*Config).Settings, from which flags, variables, file keys and the
// documentation are all derived. It imports internal/fault and models.
package config
