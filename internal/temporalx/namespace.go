package temporalx

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sluice-data/sluice/internal/fault"
)

// namespaceTimeout bounds EnsureNamespace for callers whose context has no deadline.
const namespaceTimeout = time.Minute

// probeID is looked up to see whether a namespace answers; nothing has it.
const probeID = "sluice-namespace-probe"

// EnsureNamespace makes the namespace and its search attributes exist and waits
// until workflows can be started and found in it. It may be called any number
// of times. An existing namespace keeps its retention: operators may have set it.
func EnsureNamespace(ctx context.Context, c client.Client, namespace string, retention time.Duration, attrs map[string]enums.IndexedValueType) error {
	ctx, cancel := context.WithTimeout(ctx, namespaceTimeout)
	defer cancel()
	for _, step := range []func() error{
		func() error { return ensureRegistered(ctx, c, namespace, retention) },
		func() error { return ensureAttributes(ctx, c, namespace, attrs) },
		func() error { return probe(ctx, c, namespace, attrs) },
	} {
		err := retry(ctx, step)
		if final, ok := errors.AsType[*fault.Error](err); ok {
			return final // a step said itself what is wrong
		}
		if isDenied(err) {
			return fault.Wrap(err, fault.Unavailable, "Temporal does not let this client use the namespace %q: check temporal-api-key, or the client certificate, and what it may do", namespace)
		}
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "the Temporal namespace %q is not usable", namespace)
		}
	}
	return nil
}

func ensureRegistered(ctx context.Context, c client.Client, namespace string, retention time.Duration) error {
	_, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); !missing {
		return err
	}
	_, err = c.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace:                        namespace,
		Description:                      "Sluice's reconciliation and maintenance workflows",
		WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	if _, exists := errors.AsType[*serviceerror.NamespaceAlreadyExists](err); exists {
		return nil // another process was faster
	}
	return err
}

func ensureAttributes(ctx context.Context, c client.Client, namespace string, attrs map[string]enums.IndexedValueType) error {
	if len(attrs) == 0 {
		return nil
	}
	known, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	missing := map[string]enums.IndexedValueType{}
	for name, kind := range attrs {
		have, ok := known.GetCustomAttributes()[name]
		switch {
		case !ok:
			missing[name] = kind
		case have != kind:
			return fault.New(fault.Conflict, "the search attribute %s of the Temporal namespace %q is %s and Sluice needs %s: remove it, or use another namespace",
				name, namespace, have, kind)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	if _, invalid := errors.AsType[*serviceerror.InvalidArgument](err); invalid {
		return fault.Wrap(err, fault.Unprocessable, "the Temporal namespace %q does not take Sluice's search attributes: %v", namespace, err)
	}
	return err
}

// probe asks the history service for a workflow that does not exist and the
// visibility store for the attributes, because each service learns of a
// namespace and of its attributes in its own time.
func probe(ctx context.Context, c client.Client, namespace string, attrs map[string]enums.IndexedValueType) error {
	_, err := c.WorkflowService().DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: namespace, Execution: &common.WorkflowExecution{WorkflowId: probeID},
	})
	if _, absent := errors.AsType[*serviceerror.NotFound](err); err != nil && !absent {
		return err
	}
	var query strings.Builder
	for i, name := range slices.Sorted(maps.Keys(attrs)) {
		if i > 0 {
			query.WriteString(" AND ")
		}
		query.WriteString(name + " IS NULL")
	}
	_, err = c.WorkflowService().CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: namespace, Query: query.String(),
	})
	return err
}

// WorkflowURL is the page of a workflow's latest run in the Web UI at uiBase.
// The UI's router takes a path segment as the ID and decodes it, so that a
// slash of the ID must arrive as %2F. Without a UI there is no page and no URL.
func WorkflowURL(uiBase, namespace, workflowID string) string {
	if uiBase == "" {
		return ""
	}
	return strings.TrimRight(uiBase, "/") + "/namespaces/" + url.PathEscape(namespace) + "/workflows/" + url.PathEscape(workflowID)
}
