package main

import (
	"fmt"
	"strings"
)

// banner is what serve prints once everything works.
func banner(b bootstrapFile, folder *dataFolder, root rootState) string {
	var s strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&s, format+"\n", args...) }
	line("")
	line("Sluice is ready.")
	line("")
	line("  Iceberg REST catalog   %s   (warehouse %s)", b.CatalogURI, b.Catalog)
	line("  Governance API         %s", b.GovernanceURI)
	line("  Temporal UI            %s", b.TemporalUIURI)
	line("  Data                   %s", folder.path)
	switch {
	case root.created:
		line("")
		line("  Root's credentials, shown this once and kept in %s:", folder.file(credentialsName))
		line("  client id      %s", root.ClientID)
		line("  client secret  %s", root.ClientSecret)
		line("  bearer token   %s", root.Token)
	case root.lost:
		line("")
		line("  Root's client secret is not in %s any more. To get a new one, stop serve and run:", folder.file(credentialsName))
		line("  sluice root reset-credentials --data %s", folder.path)
	}
	line("")
	line("Next: sluice tokens mint --data %s --catalog %s --expires-in 720h", folder.path, b.Catalog)
	line("")
	return s.String()
}
