package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
)

func (c *cli) connectCommand() *cobra.Command {
	w := connectWish{}
	var showSecrets bool
	cmd := &cobra.Command{
		Use:   "connect ENGINE",
		Short: "Print a working configuration of an engine",
		Long: "Prints what ENGINE (" + strings.Join(connectEngines(), ", ") + ") needs to work with a catalog of the running serve,\n" +
			"or of the Sluice at --uri. How it comes to its files is the mode: with short-lived keys that Sluice gives it\n" +
			"(vended-credentials), by having each request signed (remote-signing), or with keys of its own (none).\n" +
			"The output names environment variables in place of secrets, unless --show-secrets is given.",
		Example: "  sluice connect spark\n  sluice connect flink --mode remote-signing --oauth\n  sluice connect pyiceberg -o json",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.engine = args[0]
			if err := w.check(); err != nil {
				return usageError{err}
			}
			if err := c.placeConnection(&w); err != nil {
				return err
			}
			if showSecrets {
				if err := c.revealConnection(&w); err != nil {
					return err
				}
			}
			if w.engine == engineTrino { // it takes nothing about the store from the catalog
				w.store = c.catalogStore(cmd.Context(), w.catalog)
			}
			return c.showConnection(w)
		},
	}
	cmd.Flags().StringVar(&w.mode, "mode", modeVended, strings.Join(connectModes(), ", "))
	cmd.Flags().StringVar(&w.catalog, "catalog", "", "the catalog (default: the first one of the running serve, else "+config.Default().Catalog+")")
	cmd.Flags().BoolVar(&w.oauth, "oauth", false, "let the engine get tokens with a client id and a client secret, in place of an engine token")
	cmd.Flags().StringVar(&w.tokenEnv, "token-env", config.EnvPrefix+"TOKEN", "environment variable that holds the engine token")
	cmd.Flags().StringVar(&w.idEnv, "client-id-env", config.EnvPrefix+"CLIENT_ID", "environment variable that holds the client id")
	cmd.Flags().StringVar(&w.secretEnv, "client-secret-env", config.EnvPrefix+"CLIENT_SECRET", "environment variable that holds the client secret")
	cmd.Flags().BoolVar(&showSecrets, "show-secrets", false, "print the secrets themselves: those in the variables, else those that this command authenticates with")
	c.clientFlags(cmd)
	return cmd
}

// connection is what -o json prints.
type connection struct {
	Engine  string `json:"engine"`
	Mode    string `json:"mode"`
	URI     string `json:"uri"`
	Catalog string `json:"catalog"`
	// Variables are the environment variables that the properties name.
	Variables []string `json:"variables"`
	// Properties are the engine's, with ${NAME}, or the engine's own form of it, in place of secrets.
	Properties map[string]string `json:"properties"`
	Text       string            `json:"text"`
}

func (c *cli) showConnection(w connectWish) error {
	text, err := w.text()
	if err != nil {
		return err
	}
	if c.format != formatJSON {
		c.say("%s", text)
		return nil
	}
	props := map[string]string{}
	for _, p := range w.properties() {
		props[p.name] = p.plain(w.engine)
	}
	return c.showJSON(connection{
		Engine: w.engine, Mode: w.mode, URI: w.uri, Catalog: w.catalog, Variables: w.variables(), Properties: props, Text: text,
	})
}

// placeConnection finds out what Sluice and catalog are meant. No token is needed for that, and none is used.
func (c *cli) placeConnection(w *connectWish) error {
	uri := c.uri
	if uri == "" {
		uri, _ = c.lookupEnv(config.EnvPrefix + "URI")
	}
	running, err := runningServe(c.cfg.DataDir)
	if uri == "" {
		if err != nil {
			return fmt.Errorf("no address to connect to: start `sluice serve`, name its folder with --data, or give --uri (%w)", err)
		}
		uri = running.GovernanceURI
	}
	base, wrong := governanceBase(uri)
	if wrong != nil {
		return wrong
	}
	if w.catalog == "" {
		w.catalog = c.cfg.Catalog
		if err == nil && sameServer(base, running.GovernanceURI) {
			w.catalog = running.Catalog
		}
	}
	w.uri = strings.TrimSuffix(base, governancePath) + strings.TrimSuffix(facadePath, "/v1")
	return nil
}

// revealConnection puts secrets in place of the variables that are to hold them.
func (c *cli) revealConnection(w *connectWish) error {
	token, _ := c.lookupEnv(w.tokenEnv)
	id, _ := c.lookupEnv(w.idEnv)
	secret, _ := c.lookupEnv(w.secretEnv)
	if w.oauth && (id == "" || secret == "") || !w.oauth && token == "" {
		own, err := c.client()
		if err != nil {
			return err
		}
		token = own.token
		if own.login != nil {
			id, secret = own.login.id, own.login.secret
		} else if running, err := runningServe(c.cfg.DataDir); err == nil && sameServer(own.base, running.GovernanceURI) {
			id, secret = running.ClientID, running.ClientSecret
		}
	}
	switch {
	case w.oauth && (id == "" || secret == ""):
		return fmt.Errorf("no client id and secret to show: set %s and %s, or give --client-id and --client-secret", w.idEnv, w.secretEnv)
	case !w.oauth && token == "":
		return fmt.Errorf("no token to show: set %s, or give --token", w.tokenEnv)
	}
	w.revealed = map[string]string{w.tokenEnv: token, w.idEnv: id, w.secretEnv: secret}
	return nil
}

// storeOfCatalog is what an engine must be told of an S3 store that it reaches by itself.
type storeOfCatalog struct {
	Endpoint  string `json:"endpoint"`
	Region    string `json:"region"`
	PathStyle bool   `json:"pathStyleAccess"`
}

// catalogStore asks for the store where that is to be had; a catalog that names none lies in the running serve's. Without
// the right to ask, the output says what to fill in.
func (c *cli) catalogStore(ctx context.Context, catalog string) *storeOfCatalog {
	var answer struct {
		Storage storeOfCatalog `json:"storageConfigInfo"`
	}
	if err := c.administer(ctx, http.MethodGet, []string{"catalogs", catalog}, nil, &answer); err != nil {
		return nil
	}
	store := answer.Storage
	running, err := runningServe(c.cfg.DataDir)
	if own := err == nil && sameServer(c.found.base, running.GovernanceURI); own && store.Endpoint == "" && store.Region == "" && running.S3Endpoint != "" {
		return &storeOfCatalog{Endpoint: running.S3Endpoint, Region: c.cfg.Storage.S3Region, PathStyle: true}
	}
	if store == (storeOfCatalog{}) {
		return nil
	}
	return &store
}

// check refuses what the engine cannot do.
func (w connectWish) check() error {
	modes, known := modesOf(w.engine)
	switch {
	case !known:
		return fmt.Errorf("%s is none of %s", w.engine, strings.Join(connectEngines(), ", "))
	case !slices.Contains(connectModes(), w.mode):
		return fmt.Errorf("mode %s is none of %s", w.mode, strings.Join(connectModes(), ", "))
	case !slices.Contains(modes, w.mode):
		return fmt.Errorf("%s has no %s: choose --mode %s", w.engine, w.mode, strings.Join(modes, " or "))
	case w.tokenEnv == "" || w.idEnv == "" || w.secretEnv == "":
		return errors.New("the name of an environment variable is empty")
	}
	for _, name := range []string{w.tokenEnv, w.idEnv, w.secretEnv} {
		if !isVariable(name) {
			return fmt.Errorf("%q is not the name of an environment variable", name)
		}
	}
	return nil
}
