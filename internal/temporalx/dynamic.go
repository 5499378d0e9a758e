package temporalx

import (
	"time"

	"go.temporal.io/server/common/dynamicconfig"
)

// dynamicConfig fits Temporal, whose defaults are for clusters, to one process
// with one store: it must be idle when idle, and send nothing to anyone.
func dynamicConfig() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		// Nobody is told that this server runs.
		dynamicconfig.EnableServerVersionCheck.Key(): false,

		// The dispatcher starts workflows with their first task in the answer; approvals are updates.
		dynamicconfig.EnableEagerWorkflowStart.Key():                           true,
		dynamicconfig.FrontendEnableUpdateWorkflowExecution.Key():              true,
		dynamicconfig.FrontendEnableUpdateWorkflowExecutionAsyncAccepted.Key(): true,

		// One process serves every task queue: partitions would only be pollers that forward to each other.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,

		// The scanners look for what clusters leave behind; their workers cannot be stopped.
		dynamicconfig.TaskQueueScannerEnabled.Key():  false,
		dynamicconfig.HistoryScannerEnabled.Key():    false,
		dynamicconfig.BuildIdScavengerEnabled.Key():  false,
		dynamicconfig.ExecutionsScannerEnabled.Key(): false,
		// Parent close policies are applied by the history service itself then.
		dynamicconfig.EnableParentClosePolicyWorker.Key(): false,

		// Each service learns of a new search attribute by reading the namespaces again; the
		// default of 2 s is most of the time to ready of a first start.
		dynamicconfig.NamespaceCacheRefreshInterval.Key(): time.Second,

		// Goroutines and caches sized for one machine and one connection.
		dynamicconfig.TransferProcessorSchedulerWorkerCount.Key():    64,
		dynamicconfig.TimerProcessorSchedulerWorkerCount.Key():       64,
		dynamicconfig.MemoryTimerProcessorSchedulerWorkerCount.Key(): 16,
		dynamicconfig.VisibilityProcessorSchedulerWorkerCount.Key():  32,
		dynamicconfig.ArchivalProcessorSchedulerWorkerCount.Key():    1,
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key():             4096,

		// The single connection is the limit; rate limits below it only turn bursts into errors.
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 200,
		dynamicconfig.FrontendPersistenceMaxQPS.Key():                    10000,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():                     45000,
	}
}
