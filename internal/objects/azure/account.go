package azure

import (
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// account is one storage account and what opens it.
type account struct {
	name     string
	dfs      string // its hosts, as in locations
	blob     string
	endpoint string // of the Blob service, without a slash at the end
	service  *service.Client
	key      *sas.SharedKeyCredential // nil where Sluice signs in by token
}

// newAccount makes the account of a root. It asks the network nothing.
func newAccount(c Config, root objects.Location, transport http.RoundTripper) (*account, error) {
	if !root.IsAzure() {
		return nil, fault.New(fault.Invalid, "Storage root %s is not in Azure. Use one such as abfss://container@account.dfs.core.windows.net/path.", root)
	}
	a := &account{}
	a.dfs, a.blob = root.AccountHosts()
	a.name, _, _ = strings.Cut(a.dfs, ".")
	var err error
	if a.endpoint, err = c.endpoint(root); err != nil {
		return nil, err
	}
	client := azcore.ClientOptions{
		Transport: &http.Client{Transport: objects.CountingTransport{Next: transport}},
		Retry:     policy.RetryOptions{MaxRetries: objects.Attempts - 1, RetryDelay: 200 * time.Millisecond, MaxRetryDelay: 2 * time.Second},
	}
	token, err := c.credential(client)
	if err != nil {
		return nil, err
	}
	options := &service.ClientOptions{ClientOptions: client}
	if token != nil {
		a.service, err = service.NewClient(a.endpoint, token, options)
	} else if a.key, err = service.NewSharedKeyCredential(a.name, c.AccountKey); err == nil {
		a.service, err = service.NewClientWithSharedKeyCredential(a.endpoint, a.key, options)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The key or endpoint of Azure storage account %s is not valid. Give the key as Azure shows it.", a.name)
	}
	return a, nil
}

// has refuses locations of other accounts.
func (a *account) has(loc objects.Location) error {
	if dfs, _ := loc.AccountHosts(); dfs != a.dfs {
		return fault.New(fault.Forbidden, "Location %s is not in Azure storage account %s.", loc, a.name)
	}
	return nil
}

func (a *account) container(loc objects.Location) *container.Client {
	return a.service.NewContainerClient(loc.Container())
}
