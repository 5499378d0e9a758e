package main

import (
	"fmt"
	"strings"
)

// banner is what serve prints once everything works; program is how this one is called again.
func banner(e *embedded, program string) string {
	var s strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&s, format+"\n", args...) }
	folder, data := e.folder, shellWord(e.folder.path)
	line("")
	line("Sluice is ready.")
	line("")
	line("  Iceberg REST catalog   %s   (warehouse %s)", e.file.CatalogURI, e.file.Catalog)
	line("  Governance API         %s", e.file.GovernanceURI)
	line("  Data plane             %s", e.file.DataURI)
	line("  Temporal UI            %s", e.file.TemporalUIURI)
	line("  Data                   %s", folder.path)
	switch {
	case e.root.created:
		line("")
		line("  Root's credentials, shown this once and kept in %s:", folder.file(credentialsName))
		line("  client id      %s", e.root.ClientID)
		line("  client secret  %s", e.root.ClientSecret)
		line("  bearer token   %s", e.root.Token)
	case e.root.lost:
		line("")
		line("  Root's client secret is not in %s any more. To get a new one, stop serve and run:", folder.file(credentialsName))
		line("  %s root reset-credentials --data %s", program, data)
	default:
		line("  Root's credentials     %s", folder.file(credentialsName))
	}
	for _, stray := range e.strays {
		line("")
		line("  Attention: %s.", stray.detail(e.roots))
		line("  To mend it, %s.", stray.remedy())
	}
	line("")
	line("Next, give an engine a token:")
	line("  %s tokens mint --data %s --catalog %s --name my-job --expires-in 30d", program, data, e.file.Catalog)
	line("")
	return s.String()
}
