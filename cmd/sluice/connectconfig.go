package main

import (
	"embed"
	"encoding/json"
	"strconv"
	"strings"
	"text/template"
)

//go:embed connect/*.tmpl
var connectTemplates embed.FS

// The engines that connect knows.
const (
	engineSpark        = "spark"
	engineFlink        = "flink"
	engineKafkaConnect = "kafka-connect"
	enginePyIceberg    = "pyiceberg"
	engineDuckDB       = "duckdb"
	engineTrino        = "trino"
)

// The ways an engine comes to its files.
const (
	modeVended  = "vended-credentials"
	modeSigning = "remote-signing"
	modeNone    = "none"
)

func connectEngines() []string {
	return []string{engineSpark, engineFlink, engineKafkaConnect, enginePyIceberg, engineDuckDB, engineTrino}
}

func connectModes() []string { return []string{modeVended, modeSigning, modeNone} }

// modesOf gives the modes that an engine has.
func modesOf(engine string) ([]string, bool) {
	switch engine {
	case engineSpark, engineFlink, engineKafkaConnect, enginePyIceberg:
		return connectModes(), true
	case engineDuckDB, engineTrino:
		return []string{modeVended, modeNone}, true
	}
	return nil, false
}

// connectWish is what a configuration is wanted for.
type connectWish struct {
	engine, mode string
	uri, catalog string // the catalog's address, without /v1
	oauth        bool
	tokenEnv     string // names of environment variables
	idEnv        string
	secretEnv    string
	revealed     map[string]string // by variable; nil where only the variables are to be named
	store        *storeOfCatalog   // nil where it is not known
}

// variables are those that the configuration names.
func (w connectWish) variables() []string {
	switch {
	case w.revealed != nil:
		return []string{}
	case w.oauth:
		return []string{w.idEnv, w.secretEnv}
	}
	return []string{w.tokenEnv}
}

// connectProperty is one setting of an engine: a value, or the variables that hold it, joined by colons.
type connectProperty struct {
	name, value string
	variables   []string
}

func said(name, value string) connectProperty { return connectProperty{name: name, value: value} }

// hidden is a property whose value the variables hold.
func (w connectWish) hidden(name string, variables ...string) connectProperty {
	if w.revealed == nil {
		return connectProperty{name: name, variables: variables}
	}
	values := make([]string, len(variables))
	for i, v := range variables {
		values[i] = w.revealed[v]
	}
	return said(name, strings.Join(values, ":"))
}

func (w connectWish) tokenURI() string { return w.uri + "/v1" + loginPath }

// properties are the engine's settings, in the order in which they are read best.
func (w connectWish) properties() []connectProperty {
	switch w.engine {
	case engineSpark:
		return w.sparkProperties()
	case engineFlink:
		return append([]connectProperty{said("type", "iceberg"), said("catalog-type", "rest")}, w.javaClient("")...)
	case engineKafkaConnect:
		return w.sinkProperties()
	case enginePyIceberg:
		return w.pyIcebergProperties()
	case engineDuckDB:
		return w.duckDBOptions()
	case engineTrino:
		return w.trinoProperties()
	}
	return nil
}

// javaClient is what every engine with Iceberg's Java client takes.
func (w connectWish) javaClient(prefix string) []connectProperty {
	p := []connectProperty{said(prefix+"uri", w.uri), said(prefix+"warehouse", w.catalog), said(prefix+"rest.auth.type", "oauth2")}
	if w.oauth {
		p = append(p, w.hidden(prefix+"credential", w.idEnv, w.secretEnv), said(prefix+"oauth2-server-uri", w.tokenURI()), said(prefix+"scope", everyRole))
	} else {
		p = append(p, w.hidden(prefix+"token", w.tokenEnv), said(prefix+"token-refresh-enabled", "false"))
	}
	if w.mode != modeNone {
		p = append(p, said(prefix+"header.X-Iceberg-Access-Delegation", w.mode))
	}
	return p
}

func (w connectWish) sparkProperties() []connectProperty {
	const lake = "spark.sql.catalog.lake"
	p := []connectProperty{
		said("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"),
		said("spark.sql.defaultCatalog", "lake"),
		said(lake, "org.apache.iceberg.spark.SparkCatalog"),
		said(lake+".type", "rest"),
	}
	p = append(p, w.javaClient(lake+".")...)
	// Sluice deletes the files of a purged table after its grace period; Spark would delete them itself, at once.
	return append(p, said(lake+".rest-catalog-purge", "true"))
}

func (w connectWish) sinkProperties() []connectProperty {
	const catalog = "iceberg.catalog."
	p := []connectProperty{
		said("connector.class", "org.apache.iceberg.connect.IcebergSinkConnector"),
		said("tasks.max", "1"),
		said("topics", "my-topic"),
		said("iceberg.tables", "my_namespace.my_table"),
		said("iceberg.control.topic", "control-iceberg"),
		said(catalog+"type", "rest"),
	}
	return append(p, w.javaClient(catalog)...)
}

func (w connectWish) pyIcebergProperties() []connectProperty {
	p := []connectProperty{said("type", "rest"), said("uri", w.uri), said("warehouse", w.catalog)}
	if w.oauth {
		p = append(p, w.hidden("credential", w.idEnv, w.secretEnv), said("oauth2-server-uri", w.tokenURI()), said("scope", everyRole))
	} else {
		p = append(p, w.hidden("token", w.tokenEnv))
	}
	if w.mode == modeNone { // it asks for keys unless the header is empty
		return append(p, said("header.X-Iceberg-Access-Delegation", ""))
	}
	p = append(p, said("header.X-Iceberg-Access-Delegation", w.mode))
	if w.mode == modeSigning { // only this FileIO can have requests signed
		p = append(p, said("py-io-impl", "pyiceberg.io.fsspec.FsspecFileIO"))
	}
	return p
}

func (w connectWish) duckDBOptions() []connectProperty {
	p := []connectProperty{said("ENDPOINT", w.uri), said("ACCESS_DELEGATION_MODE", strings.ReplaceAll(w.mode, "-", "_"))}
	if !w.oauth {
		return append(p, w.hidden("TOKEN", w.tokenEnv))
	}
	return append(p, w.hidden("CLIENT_ID", w.idEnv), w.hidden("CLIENT_SECRET", w.secretEnv),
		said("OAUTH2_SERVER_URI", w.tokenURI()), said("OAUTH2_SCOPE", everyRole))
}

func (w connectWish) trinoProperties() []connectProperty {
	const catalog = "iceberg.rest-catalog."
	p := []connectProperty{
		said("connector.name", "iceberg"), said("iceberg.catalog.type", "rest"),
		said(catalog+"uri", w.uri), said(catalog+"warehouse", w.catalog), said(catalog+"security", "OAUTH2"),
	}
	if w.oauth {
		p = append(p, w.hidden(catalog+"oauth2.credential", w.idEnv, w.secretEnv), said(catalog+"oauth2.server-uri", w.tokenURI()),
			said(catalog+"oauth2.scope", everyRole))
	} else {
		p = append(p, w.hidden(catalog+"oauth2.token", w.tokenEnv))
	}
	if w.mode == modeVended {
		p = append(p, said(catalog+"vended-credentials-enabled", "true"))
	}
	p = append(p, said("fs.native-s3.enabled", "true"))
	if w.store != nil {
		for _, s := range []connectProperty{said("s3.endpoint", w.store.Endpoint), said("s3.region", w.store.Region)} {
			if s.value != "" {
				p = append(p, s)
			}
		}
		p = append(p, said("s3.path-style-access", strconv.FormatBool(w.store.PathStyle)))
	}
	return p
}

// plain gives the value with the variables in the engine's own form, or as ${NAME} where it has none.
func (p connectProperty) plain(engine string) string {
	form := "${"
	switch engine {
	case engineKafkaConnect:
		form = "${env:"
	case engineTrino:
		form = "${ENV:"
	}
	return p.value + p.joined(form, "}", ":")
}

func (p connectProperty) joined(before, after, between string) string {
	parts := make([]string, len(p.variables))
	for i, v := range p.variables {
		parts[i] = before + v + after
	}
	return strings.Join(parts, between)
}

// shell gives the value for a shell's here-document, where variables are filled in and must be set.
func (p connectProperty) shell(escape func(string) string) string {
	return hereDocument(escape(p.value)) + p.joined("${", ":?}", ":")
}

// hereDocument keeps the shell from reading anything in the text.
func hereDocument(text string) string {
	return strings.NewReplacer(`\`, `\\`, "$", `\$`, "`", "\\`").Replace(text)
}

// sqlText doubles what ends a text in SQL.
func sqlText(text string) string { return strings.ReplaceAll(text, "'", "''") }

// propertyText is a value in a Java properties file.
func propertyText(text string) string { return strings.ReplaceAll(text, `\`, `\\`) }

func quotedJSON(text string) string {
	data, _ := json.Marshal(text) //nolint:errchkjson // a string always has a form
	return string(data)
}

// python gives the value as an expression of Python.
func (p connectProperty) python() string {
	if len(p.variables) == 0 {
		return quotedJSON(p.value) // of JSON's texts each is one of Python's
	}
	return p.joined(`os.environ["`, `"]`, ` + ":" + `)
}

// connectLine is a property as a template shows it.
type connectLine struct{ Name, Value string }

// lines gives the properties in the form of the engine's configuration.
func (w connectWish) lines() []connectLine {
	var lines []connectLine
	for _, p := range w.properties() {
		value := p.plain(w.engine)
		switch w.engine {
		case engineSpark:
			value = p.shell(propertyText)
		case engineFlink, engineDuckDB:
			value = p.shell(sqlText)
		case engineKafkaConnect:
			value = quotedJSON(value)
		case enginePyIceberg:
			value = p.python()
		case engineTrino:
			value = p.value
			if len(p.variables) > 0 {
				value = p.plain(w.engine)
			}
			value = propertyText(value)
		}
		lines = append(lines, connectLine{p.name, value})
	}
	return lines
}

// text is the configuration as a person takes it over.
func (w connectWish) text() (string, error) {
	parsed, err := template.New(w.engine+".tmpl").Funcs(template.FuncMap{"here": hereDocument, "sql": sqlText}).
		ParseFS(connectTemplates, "connect/head.tmpl", "connect/"+w.engine+".tmpl")
	if err != nil {
		return "", err
	}
	var s strings.Builder
	err = parsed.Execute(&s, map[string]any{
		"Mode": w.mode, "URI": w.uri, "Catalog": w.catalog, "CatalogWord": shellWord(w.catalog), "OAuth": w.oauth,
		"Variables": w.variables(), "Lines": w.lines(), "StoreKnown": w.store != nil,
		"Own": w.mode == modeNone, "Signed": w.mode == modeSigning,
	})
	return s.String(), err
}

func isVariable(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
