package azure

import (
	"context"
	"log/slog"
	"net"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// Config says how a storage account is reached. Without an account key and a client secret, Sluice signs in with what
// the surroundings have: environment, workload identity, managed identity, or the Azure CLI. That identity is shown to
// Azure's own hosts alone: a token that another host gets would open all that Sluice may.
type Config struct {
	// Endpoint is the URL of the account's Blob service, "" for the host of the location. For Azurite it is such as
	// http://127.0.0.1:10000/devstoreaccount1; http is for this machine alone.
	Endpoint string
	// Hierarchical says that the account has a hierarchical namespace. Others have no keys for one folder.
	Hierarchical bool

	AccountKey string // opens the whole account; base64 as Azure shows it

	TenantID     string // the three of an application that signs in by a secret; all or none
	ClientID     string
	ClientSecret string
}

// LogValue keeps the keys out of logs.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(slog.String("endpoint", c.Endpoint), slog.Bool("hierarchical", c.Hierarchical),
		slog.String("tenantId", c.TenantID), slog.String("clientId", c.ClientID))
}

// String keeps the keys out of printed configurations.
func (c Config) String() string { return c.LogValue().String() }

// GoString keeps the keys out of %#v.
func (c Config) GoString() string { return c.String() }

// Opener gives what objects.Config.Clouds wants for "abfss".
func Opener(c Config) objects.OpenFunc {
	return func(_ context.Context, root objects.Location) (objects.Store, error) {
		store, err := New(c, root)
		if err != nil {
			return nil, err // not a Store that holds no *Store
		}
		return store, nil
	}
}

// endpoint gives the URL of the Blob service without a slash at its end.
func (c Config) endpoint(root objects.Location) (string, error) {
	endpoint, err := c.givenEndpoint(root)
	if err != nil {
		return "", err
	}
	if host, _, _ := strings.Cut(strings.TrimPrefix(endpoint, "https://"), "/"); c.AccountKey == "" && c.ClientSecret == "" && !azures(host) {
		return "", fault.New(fault.Invalid, "Sluice shows the identity of its machine to Azure's own hosts alone, and %s is none. Give an account key, or a tenant, client id and client secret.", root)
	}
	return endpoint, nil
}

// azures tells whether a host is in one of Azure's clouds.
func azures(host string) bool {
	for _, cloud := range []string{".core.windows.net", ".storage.azure.net", ".core.usgovcloudapi.net", ".core.chinacloudapi.cn", ".fabric.microsoft.com"} {
		if strings.HasSuffix(host, cloud) {
			return true
		}
	}
	return false
}

func (c Config) givenEndpoint(root objects.Location) (string, error) {
	if c.Endpoint == "" {
		_, blob := root.AccountHosts()
		return "https://" + blob, nil
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fault.New(fault.Invalid, "The endpoint of the Azure storage account is not valid. Use a URL such as https://account.blob.core.windows.net, without a query.")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return "", fault.New(fault.Invalid, "The endpoint of the Azure storage account is http. Use https: http is for an emulator on this machine alone.")
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// credential gives what signs in by token, nil where the account key is to be used.
func (c Config) credential(client azcore.ClientOptions) (azcore.TokenCredential, error) {
	given := 0
	for _, v := range []string{c.TenantID, c.ClientID, c.ClientSecret} {
		if v != "" {
			given++
		}
	}
	switch {
	case c.AccountKey != "" && c.ClientSecret != "":
		return nil, fault.New(fault.Invalid, "The Azure storage account has both an account key and a client secret. Give one of them.")
	case c.AccountKey != "":
		return nil, nil
	case c.ClientSecret == "":
		cred, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: client, TenantID: c.TenantID})
		if err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "Sluice cannot sign in to Azure with what this machine has. Give an account key, or a tenant, client id and client secret.")
		}
		return cred, nil
	case given != 3:
		return nil, fault.New(fault.Invalid, "The Azure client secret goes with a tenant and a client id: give all three.")
	}
	cred, err := azidentity.NewClientSecretCredential(c.TenantID, c.ClientID, c.ClientSecret, &azidentity.ClientSecretCredentialOptions{ClientOptions: client})
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The Azure tenant, client id and client secret are not valid.")
	}
	return cred, nil
}
