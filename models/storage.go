package models

// StorageType is the kind of object store that a catalog lies in.
type StorageType string

// The storage types, as Apache Polaris names them.
const (
	S3Storage    StorageType = "S3"
	GCSStorage   StorageType = "GCS"
	AzureStorage StorageType = "AZURE"
	FileStorage  StorageType = "FILE"
)

// StorageConfig says how a catalog's object store is reached, in the members of Polaris's storageConfigInfo. It holds
// no secrets. Members of other types than Type are empty.
type StorageConfig struct {
	Type StorageType `json:"storageType,omitempty"`
	Name string      `json:"storageName,omitempty"`

	RoleARN          string   `json:"roleArn,omitempty"`
	ExternalID       string   `json:"externalId,omitempty"`
	UserARN          string   `json:"userArn,omitempty"`
	Region           string   `json:"region,omitempty"`
	Endpoint         string   `json:"endpoint,omitempty"`
	EndpointInternal string   `json:"endpointInternal,omitempty"`
	STSEndpoint      string   `json:"stsEndpoint,omitempty"`
	STSUnavailable   bool     `json:"stsUnavailable,omitempty"`
	KMSUnavailable   bool     `json:"kmsUnavailable,omitempty"`
	PathStyleAccess  bool     `json:"pathStyleAccess,omitempty"`
	CurrentKMSKey    string   `json:"currentKmsKey,omitempty"`
	AllowedKMSKeys   []string `json:"allowedKmsKeys,omitempty"`

	TenantID           string `json:"tenantId,omitempty"`
	MultiTenantAppName string `json:"multiTenantAppName,omitempty"`
	ConsentURL         string `json:"consentUrl,omitempty"`
	Hierarchical       bool   `json:"hierarchical,omitempty"`

	GCSServiceAccount string `json:"gcsServiceAccount,omitempty"`
}
