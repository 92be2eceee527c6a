import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** Gauges of Node that have names of counters. Each is the sum of another gauge over its label. */
const misnamedTotals = ['resources', 'handles', 'requests'].map((what) => `nodejs_active_${what}_total`);

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamedTotals) registry.removeSingleMetric(name);
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });
  const metrics = {
    registry,
    buildInfo: gauge('workspace_build_info', 'The running version; always 1.', 'version', 'revision', 'node'),
    requests: new Histogram({
      name: 'workspace_http_request_duration_seconds',
      help: 'Time from the first byte of a request to its response, excluding time spent in Prefer: wait.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    unreadable: counter(
      'workspace_http_unreadable_total',
      'Input rejected before it could be parsed as a request, by status.',
      'status',
    ),
    droppedConnections: counter(
      'workspace_http_connections_dropped_total',
      'Connections closed at once because the connection limit was reached.',
    ),
    syncs: counter('workspace_syncs_total', 'Finished syncs, by status.', 'status'),
    syncsRunning: gauge('workspace_syncs_running', 'Syncs running on this instance.'),
    lastSync: gauge(
      'workspace_last_successful_sync_timestamp_seconds',
      'End of the last successful sync of each workspace.',
      'workspace',
    ),
    deliveries: counter('workspace_webhook_attempts_total', 'Webhook delivery attempts, by outcome.', 'outcome'),
    locks: gauge('workspace_locks', 'Active locks of each workspace.', 'workspace'),
    lockWaiters: gauge(
      'workspace_lock_waiters',
      'Requests waiting for a path on this instance, by workspace.',
      'workspace',
    ),
    diskSize: gauge('workspace_disk_size_bytes', 'Size of the data disk.'),
    freeDisk: gauge('workspace_disk_free_bytes', 'Free space on the data disk.'),
    mostWaiting: gauge('workspace_webhook_deliveries_waiting_max', 'Length of the longest delivery queue.'),
    droppedEvents: gauge(
      'workspace_webhook_events_dropped',
      'Events dropped because too many deliveries waited, or one change caused too many.',
    ),
    expiringTokens: gauge('workspace_tokens_expiring', 'API tokens that expire within 14 days.'),
    expiredLocks: counter('workspace_locks_expired_total', 'Locks whose ttl expired.'),
  };
  // Prometheus detects an increase by the previous value. Without an initial zero, it would miss the first failure.
  for (const status of ['succeeded', 'failed']) metrics.syncs.inc({ status }, 0);
  for (const status of [400, 408, 413, 431]) metrics.unreadable.inc({ status }, 0);
  for (const outcome of ['delivered', 'retry', 'given-up', 'gone']) metrics.deliveries.inc({ outcome }, 0);
  return metrics;
}
