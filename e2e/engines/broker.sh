# A Kafka broker of one node for a script that has sourced lib.sh; it ends with the script.

# free_port gives a port that nobody listens on.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# start_broker starts it on a fresh folder and sets KAFKA_BOOTSTRAP.
start_broker() {
  local port controller folder=$work/kafka jars="$ENGINES_HOME/kafka/lib/*"
  port=$(free_port) controller=$(free_port)
  mkdir -p "$folder"
  cat >"$folder/server.properties" <<P
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$folder/data
num.partitions=2
offsets.topic.num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=true
P
  java -cp "$jars" kafka.tools.StorageTool format -t "$(java -cp "$jars" kafka.tools.StorageTool random-uuid 2>/dev/null)" \
    -c "$folder/server.properties" >"$folder/format.log" 2>&1
  java "-Xmx${KAFKA_HEAP:-384m}" -Dlog4j2.configurationFile="$e2e/engines/kafka/log4j2.properties" -cp "$jars" kafka.Kafka "$folder/server.properties" >"$folder/broker.log" 2>&1 &
  others+=("$!")
  for _ in $(seq 450); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      export KAFKA_BOOTSTRAP=127.0.0.1:$port
      return
    fi
    sleep 0.2
  done
  echo "FAIL e2e: the broker does not answer after 90 s"
  tail -n 5 "$folder/broker.log"
  return 1
}
