package config

import "time"

// Config is every setting of every command. Each command reads what it needs.
type Config struct {
	DataDir   string   // of serve: database, warehouse, Temporal's state, bootstrap.json
	Listen    string   // host:port of the HTTP API
	PublicURL string   // the base clients reach serve under, "" for the listening address
	Proxies   []string // networks whose X-Forwarded-For is believed

	Database Database
	Temporal Temporal
	Storage  Storage
	Log      Log
	Limits   Limits
	Facade   Facade
	Dispatch Dispatch
	Tokens   Tokens
	Watch    Watch
	Audit    Audit
	Webhooks Webhooks
	Data     Data

	EncryptionKeys Secret // what secrets are encrypted with at rest: id:base64,…; the first encrypts
	Catalog        string // name of the catalog that a fresh installation gets
	ReservedPrefix string // of table properties that only Sluice sets
	Drops          Drops
	SweepInterval  time.Duration // between two sweeps for commits that no event announced
	CheckInterval  time.Duration // between two checks of the files of tables
}

// Database says where Sluice keeps its rows.
type Database struct {
	URL      Secret // postgres://… or sqlite://…; "" for sluice.db in the data folder
	MaxConns int    // open connections at most
	Migrate  bool   // serve may bring an older PostgreSQL schema up to date
}

// Temporal says which workflow engine to use, embedded or by address.
type Temporal struct {
	IP     string // of the embedded server and its UI, neither of which asks who is calling
	Port   int    // of the embedded server, 0 for any free one
	UIPort int    // of its Web UI, 0 for any free one

	Address       string // of an external one; serve never uses it
	Namespace     string
	Retention     time.Duration // of closed workflows, set when the namespace is made
	APIKey        Secret
	TLS           bool
	TLSCA         string // PEM files
	TLSCert       string
	TLSKey        string
	TLSServerName string

	UIURL           string // of the external Web UI, "" for none
	EncryptPayloads bool   // what workflows are given and answer is encrypted under EncryptionKeys
}

// Storage says where table files may lie and how to reach them.
type Storage struct {
	Warehouses  []string // absolute URIs or folders; new catalogs lie in the first, nothing outside of them is touched
	AnyLocation bool     // files of open_full tables may lie outside their tables
	S3Endpoint  string
	S3Region    string
	S3AccessKey Secret // no secret by itself, but nothing to show around
	S3SecretKey Secret
	S3PathStyle bool

	S3STSEndpoint      string        // "" for the store's own, or Amazon's of the region
	S3RoleARN          string        // role of the keys that engines are given
	S3ExternalID       string        // that goes with the role
	S3STSUnavailable   bool          // the store gives no temporary keys: requests are signed instead
	CredentialLifetime time.Duration // of the keys that engines are given
	AllowOther         bool          // catalogs may bring storage of their own, outside the warehouses
	GatewayIP          string        // of the S3 endpoint that serve runs over a local warehouse
	GatewayPort        int           // 0 for any free one, -1 for none
}

// Log says what is logged and how.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // auto (text on a terminal, else JSON), text or json
}

// Limits bound what one request may cost.
type Limits struct {
	Body Bytes // of a request
}

// Dispatch tunes the way from the outbox to the workflows.
type Dispatch struct {
	PollInterval time.Duration // how often the outbox is read when nobody wakes the dispatcher
	BatchAfter   int           // backlog from which commits are reconciled in batches
	BatchSize    int           // commits per batch
}

// Tokens says what credentials there are and how long they last.
type Tokens struct {
	Access        time.Duration // of OAuth access tokens
	Engine        time.Duration // of engine tokens minted without expiresIn, 0 for never expiring
	SecretOverlap time.Duration // how long the client secret before a rotation stays good
	SigningKey    time.Duration // from one signing key of access tokens to the next
	Issuer        string        // the iss of access tokens
	OIDCFile      string        // YAML file of the OpenID Connect issuers whose tokens are accepted, "" for none
}

// Watch says from when on something about a table or a writer is a finding.
type Watch struct {
	Interval        time.Duration // between two looks at the writers
	StallFactor     int           // times a writer's own cadence
	StallFloor      time.Duration // a writer is never late sooner than this
	TokenWarning    time.Duration // before the token of a working writer ends
	SnapshotsHourly int           // snapshots of a table within an hour
	SmallFile       Bytes         // average size of the files that a table gets, over a day
	EqualityDeletes int           // live equality delete files of a table
	MetadataSize    Bytes         // of a table's metadata file
	ScanLimit       Bytes         // of data files read to count one commit's rows exactly
	FileMemory      time.Duration // how long a file that was removed is remembered
}

// Audit says what becomes of audit events.
type Audit struct {
	Checkpoint    time.Duration // between two signed checkpoints of the chain
	Retention     time.Duration // events older than this are removed, 0 for never
	Export        time.Duration // between two writes of the exported table, 0 for none
	ExportCatalog string        // that has the exported table; "" for Catalog
}

// Webhooks says how events are sent.
type Webhooks struct {
	Private bool          // addresses in private networks and plain http are allowed
	GiveUp  time.Duration // after the first attempt
}

// Drops says what becomes of dropped tables.
type Drops struct {
	Grace    time.Duration // from a drop to the earliest deletion of files
	PurgeAll bool          // delete the files of every dropped table, not only where a purge was asked for
}

// Default gives the settings of an installation that sets none.
func Default() *Config {
	return &Config{
		DataDir:        "sluice-data",
		Listen:         "127.0.0.1:8181",
		Catalog:        "main",
		ReservedPrefix: "sluice.",
		SweepInterval:  5 * time.Minute,
		CheckInterval:  time.Hour,
		Drops:          Drops{Grace: 7 * 24 * time.Hour},
		Database:       Database{MaxConns: 32},
		Temporal: Temporal{
			IP: "127.0.0.1", Port: 7233, UIPort: 8233,
			Address: "127.0.0.1:7233", Namespace: "sluice", Retention: 72 * time.Hour,
		},
		Storage:  Storage{S3Region: "us-east-1", CredentialLifetime: 15 * time.Minute, GatewayIP: "127.0.0.1"},
		Log:      Log{Level: "info", Format: "auto"},
		Limits:   Limits{Body: 16 << 20},
		Facade:   defaultFacade(),
		Dispatch: Dispatch{PollInterval: 500 * time.Millisecond, BatchAfter: 20, BatchSize: 100},
		Data: Data{
			Memory: 512 << 20, Rows: 10_000, AnswerBytes: 8 << 30, RequestBytes: 8 << 30, Timeout: 10 * time.Minute, Concurrency: 8,
			SplitAfter: 256 << 20,
		},
		Watch: Watch{
			Interval: time.Minute, StallFactor: 5, StallFloor: time.Minute, TokenWarning: 24 * time.Hour, SnapshotsHourly: 720,
			SmallFile: 1 << 20, EqualityDeletes: 1000, MetadataSize: 16 << 20, ScanLimit: 4 << 30, FileMemory: 30 * 24 * time.Hour,
		},
		Audit:    Audit{Checkpoint: 10 * time.Minute},
		Webhooks: Webhooks{GiveUp: 24 * time.Hour},
		Tokens:   Tokens{Access: time.Hour, SecretOverlap: time.Hour, SigningKey: 30 * 24 * time.Hour, Issuer: "sluice"},
	}
}
