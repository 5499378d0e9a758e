package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// storageFlag is a flag that is a member of a catalog's storageConfigInfo.
type storageFlag struct {
	flag  string
	wire  string
	kinds []string // of storage; nil for all
}

func allStorageFlags() []storageFlag {
	s3, azure, gcs := []string{"S3"}, []string{"AZURE"}, []string{"GCS"}
	return []storageFlag{
		{"storage-name", "storageName", nil},
		{"role-arn", "roleArn", s3}, {"external-id", "externalId", s3}, {"user-arn", "userArn", s3}, {"region", "region", s3},
		{"endpoint", "endpoint", s3}, {"endpoint-internal", "endpointInternal", s3}, {"sts-endpoint", "stsEndpoint", s3},
		{"no-sts", "stsUnavailable", s3}, {"no-kms", "kmsUnavailable", s3}, {"path-style-access", "pathStyleAccess", s3},
		{"current-kms-key", "currentKmsKey", s3}, {"allowed-kms-key", "allowedKmsKeys", s3},
		{"tenant-id", "tenantId", azure}, {"multi-tenant-app-name", "multiTenantAppName", azure},
		{"consent-url", "consentUrl", azure}, {"hierarchical", "hierarchical", azure},
		{"service-account", "gcsServiceAccount", gcs},
	}
}

func storageFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String("storage-name", "", "name of a storage configuration")
	f.String("role-arn", "", "s3: role to assume")
	f.String("external-id", "", "s3: external id for it")
	f.String("user-arn", "", "s3: user that assumes it")
	f.String("region", "", "s3: region")
	f.String("endpoint", "", "s3: address of the store, where it is not Amazon's")
	f.String("endpoint-internal", "", "s3: address for Sluice itself, where it is another one")
	f.String("sts-endpoint", "", "s3: address of the token service")
	f.Bool("no-sts", false, "s3: there is no token service")
	f.Bool("no-kms", false, "s3: there is no key service")
	f.Bool("path-style-access", false, "s3: the bucket is in the path, not in the host")
	f.String("current-kms-key", "", "s3: key that encrypts")
	f.StringArray("allowed-kms-key", nil, "s3: key that may be used; may be given several times")
	f.String("tenant-id", "", "azure: tenant")
	f.String("multi-tenant-app-name", "", "azure: name of the application")
	f.String("consent-url", "", "azure: where consent is given")
	f.Bool("hierarchical", false, "azure: the account has hierarchical namespaces")
	f.String("service-account", "", "gcs: service account")
}

// storageGiven gives the flags of storage that are on the command line.
func storageGiven(cmd *cobra.Command) []storageFlag {
	return slices.DeleteFunc(allStorageFlags(), func(f storageFlag) bool { return !cmd.Flags().Changed(f.flag) })
}

// addStorage puts into a storageConfigInfo what flags give.
func addStorage(cmd *cobra.Command, info entity) error {
	kind, _ := info["storageType"].(string)
	if !slices.Contains([]string{"S3", "AZURE", "GCS", "FILE"}, kind) {
		return usageError{fmt.Errorf("storage type %q is not one of s3, azure, gcs, file", strings.ToLower(kind))}
	}
	for _, f := range storageGiven(cmd) {
		if f.kinds != nil && !slices.Contains(f.kinds, kind) {
			return usageError{fmt.Errorf("--%s is for storage of type %s, and this is %s", f.flag, strings.ToLower(strings.Join(f.kinds, " or ")), strings.ToLower(kind))}
		}
		flags := cmd.Flags()
		var err error
		switch flags.Lookup(f.flag).Value.Type() {
		case "bool":
			info[f.wire], err = flags.GetBool(f.flag)
		case "stringArray":
			info[f.wire], err = flags.GetStringArray(f.flag)
		default:
			info[f.wire], err = flags.GetString(f.flag)
		}
		if err != nil {
			return err
		}
	}
	if id, _ := info["tenantId"].(string); kind == "AZURE" && id == "" {
		return usageError{fmt.Errorf("--tenant-id is missing")}
	}
	return nil
}
