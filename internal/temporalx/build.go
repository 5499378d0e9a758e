package temporalx

import (
	"net"
	"strconv"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"

	"github.com/sluice-data/sluice/internal/fault"
)

// Names that are written into the store at its creation and must never change.
const (
	clusterName   = "active"
	historyShards = 1 // one SQLite connection serialises everything: more shards only cost memory
)

// buildTemporal makes the server and binds its ports, without starting it.
func buildTemporal(p *ports, st *store, logger serverLogger) (srv temporal.Server, err error) {
	conf := serverConfig(p, st)
	authorizer, err := authorization.GetAuthorizerFromConfig(&conf.Global.Authorization)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the embedded Temporal server's authorizer cannot be made")
	}
	claims, err := authorization.GetClaimMapperFromConfig(&conf.Global.Authorization, logger)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the embedded Temporal server's claim mapper cannot be made")
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fatalReport:
			srv, err = nil, fault.New(fault.Unavailable, "the embedded Temporal server cannot start: %s", r.text)
		default:
			panic(r)
		}
	}()
	p.releaseTemporal() // building binds them
	srv, err = temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts(conf, p)),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
		temporal.WithDynamicConfigClient(dynamicConfig()),
	)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the embedded Temporal server cannot be built on %s", st.file)
	}
	return srv, nil
}

func serverConfig(p *ports, st *store) *config.Config {
	frontend := p.frontend.dialAddress()
	conf := &config.Config{}
	conf.Global.Membership.MaxJoinDuration = 10 * time.Second
	conf.Global.Membership.BroadcastAddress = loopback
	conf.Services = map[string]config.Service{
		string(primitives.FrontendService): service(p.frontend),
		string(primitives.HistoryService):  service(p.history),
		string(primitives.MatchingService): service(p.matching),
		string(primitives.WorkerService):   service(p.worker),
	}
	conf.Persistence.NumHistoryShards = historyShards
	conf.Persistence.DefaultStore, conf.Persistence.VisibilityStore = "sqlite", "sqlite"
	conf.Persistence.DataStores = map[string]config.DataStore{"sqlite": {SQL: st.sql}}
	conf.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10,
		MasterClusterName:        clusterName,
		CurrentClusterName:       clusterName,
		ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
			Enabled: true, InitialFailoverVersion: 1, RPCAddress: frontend,
		}},
	}
	conf.DCRedirectionPolicy.Policy = "noop"
	conf.Archival.History.State = config.ArchivalDisabled
	conf.Archival.Visibility.State = config.ArchivalDisabled
	conf.NamespaceDefaults.Archival.History.State = config.ArchivalDisabled
	conf.NamespaceDefaults.Archival.Visibility.State = config.ArchivalDisabled
	conf.PublicClient.HostPort = frontend
	return conf
}

func service(p *port) config.Service {
	var s config.Service
	s.RPC.GRPCPort, s.RPC.BindOnIP = p.number, p.ip
	return s
}

// hosts names each service's only member, so that no gossip ring is needed.
func hosts(conf *config.Config, p *ports) map[primitives.ServiceName]static.Hosts {
	of := map[primitives.ServiceName]static.Hosts{}
	for name := range conf.Services {
		of[primitives.ServiceName(name)] = static.SingleLocalHost(
			net.JoinHostPort(loopback, strconv.Itoa(conf.Services[name].RPC.GRPCPort)))
	}
	of[primitives.FrontendService] = static.SingleLocalHost(p.frontend.dialAddress())
	return of
}
