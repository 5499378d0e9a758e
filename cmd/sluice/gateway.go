package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/s3gateway"
	"github.com/sluice-data/sluice/internal/s3gateway/folder"
	"github.com/sluice-data/sluice/models"
)

const (
	// bucketsName is the folder of the data folder whose folders are served as S3 buckets.
	bucketsName = "s3"
	// warehouseBucket is the bucket of the first catalog.
	warehouseBucket = "warehouse"
	// gatewayName keeps the S3 endpoint's own keys and its port over restarts. Mode 0600.
	gatewayName = "s3-endpoint.json"
	// shortestSession is the shortest life of keys that the endpoint gives.
	shortestSession = time.Minute
)

// gatewayFile is what is kept of the S3 endpoint. With the keys the sessions of engines survive a restart, and with the
// port the address that engines were told.
type gatewayFile struct {
	AccessKey string `json:"accessKey"`
	SecretKey string `json:"secretKey"`
	Port      int    `json:"port"`
}

// localWarehouse is serve's warehouse where none is configured: a bucket of the data folder, which engines reach by the S3
// endpoint and this process as files. A local folder beside it is there for tables that are to lie in files.
func (e *embedded) localWarehouse(ctx context.Context, cfg *config.Config) (warehouse, error) {
	if cfg.Storage.GatewayPort < 0 { // files alone
		return configuredWarehouse(ctx, cfg, []string{e.folder.warehouse()})
	}
	gateway, keys, err := e.startGateway(ctx, cfg)
	if err != nil {
		return warehouse{}, err
	}
	roots := e.folder.localRoots()
	files, err := e.folder.openLocal(ctx)
	if err != nil {
		return warehouse{}, err
	}
	e.file.S3Endpoint = gateway.Endpoint()
	// The first catalog names nothing of where the folder is, so that the folder can be moved.
	return warehouse{roots: roots, founding: roots[:1], files: files, installation: objects.Installation{
		Config: objects.Config{Roots: roots, S3: objects.S3Config{
			Endpoint: gateway.Endpoint(), Region: gateway.Region(), PathStyle: true, AccessKey: keys.AccessKey, SecretKey: keys.SecretKey,
		}},
		Storage: models.StorageConfig{Type: models.S3Storage}, MinLifetime: shortestSession,
		OtherStorage: cfg.Storage.AllowOther,
	}}, nil
}

// localRoots are the warehouses of a data folder for which none is configured.
func (d *dataFolder) localRoots() []string { return []string{"s3://" + warehouseBucket, d.warehouse()} }

// bucket is the folder behind the first of the local roots.
func (d *dataFolder) bucket() string { return filepath.Join(d.file(bucketsName), warehouseBucket) }

// openLocal opens the local roots as files, the bucket without the way around by the S3 endpoint.
func (d *dataFolder) openLocal(ctx context.Context) (*objects.Router, error) {
	var at [3]objects.Location
	for i, location := range append(d.localRoots(), "file://"+d.bucket()) {
		var err error
		if at[i], err = objects.Parse(location); err != nil {
			return nil, err
		}
	}
	lake, err := objects.NewBucketFolder(ctx, at[0], at[2], folder.ETag)
	if err != nil {
		return nil, err
	}
	local, err := objects.NewFileStore(ctx, at[1])
	if err != nil {
		return nil, errors.Join(err, lake.Close())
	}
	return objects.NewRouter(objects.Mount{Root: at[0], Store: lake}, objects.Mount{Root: at[1], Store: local}), nil
}

func (e *embedded) startGateway(ctx context.Context, cfg *config.Config) (*s3gateway.Gateway, gatewayFile, error) {
	kept, err := e.folder.gateway()
	if err != nil {
		return nil, kept, err
	}
	start := func(port int) (*s3gateway.Gateway, error) {
		return s3gateway.Start(context.WithoutCancel(ctx), s3gateway.Options{
			Listen: net.JoinHostPort(cfg.Storage.GatewayIP, strconv.Itoa(port)), Folder: e.folder.file(bucketsName),
			RootKey: kept.AccessKey, RootSecret: kept.SecretKey, MinSession: shortestSession, Logger: e.log,
		})
	}
	port := cfg.Storage.GatewayPort
	g, err := start(cmp.Or(port, kept.Port))
	if err != nil && port == 0 && kept.Port != 0 { // somebody else has it by now
		g, err = start(0)
	}
	if err != nil {
		return nil, kept, err
	}
	e.onStop(g.Stop)
	go e.watch(g)
	if err := g.EnsureBucket(warehouseBucket); err != nil {
		return nil, kept, err
	}
	_, text, _ := net.SplitHostPort(g.Endpoint()[len("http://"):])
	kept.Port, _ = strconv.Atoi(text)
	return g, kept, writeJSONFile(e.folder.file(gatewayName), kept)
}

// watch ends serve when the S3 endpoint ends by itself.
func (e *embedded) watch(g *s3gateway.Gateway) {
	<-g.Done()
	select {
	case e.fatal <- errors.New("the S3 endpoint ended"):
	default: // serve is stopping, or has a reason already
	}
}

// gateway gives what is kept of the S3 endpoint, with fresh keys where nothing is.
func (d *dataFolder) gateway() (gatewayFile, error) {
	var kept gatewayFile
	found, err := d.readJSON(gatewayName, "remove it, and engines are given new keys", &kept)
	switch {
	case err != nil:
		return kept, err
	case !found:
		return gatewayFile{AccessKey: "sluice", SecretKey: access.NewClientSecret()}, nil
	case kept.AccessKey == "" || kept.SecretKey == "":
		return kept, d.damaged(gatewayName, "remove it, and engines are given new keys")
	}
	return kept, nil
}
