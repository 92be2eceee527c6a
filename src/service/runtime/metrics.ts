import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export const gitRequests = ['info-refs', 'ls-refs', 'fetch'] as const;
export const gitOutcomes = ['served', 'refused', 'busy', 'too-slow', 'timeout', 'gone', 'failed'] as const;

export const exchangeOutcomes = ['exchanged', 'refused', 'invalid-scope', 'limited', 'unavailable'] as const;

export type GitRequestLabel = (typeof gitRequests)[number];
export type GitOutcomeLabel = (typeof gitOutcomes)[number];

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const metrics = {
    registry,
    requests: new Histogram({
      name: 'workspace_http_request_duration_seconds',
      help: 'Time from the first byte of a request to its answer, without what it asked to wait.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    unreadable: counter(
      'workspace_http_unreadable_total',
      'What arrived and was refused before it was a request, by the status of the refusal.',
      'status',
    ),
    droppedConnections: counter(
      'workspace_http_connections_dropped_total',
      'Connections that were closed at once, because there were too many.',
    ),
    commits: new Histogram({
      name: 'workspace_commit_changes',
      help: 'How many changes shared a flush to disk.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    syncs: counter('workspace_syncs_total', 'Syncs that ended, by how.', 'status'),
    syncsRunning: gauge('workspace_syncs_running', 'Syncs that this instance runs now.'),
    gitRequests: counter(
      'workspace_git_requests_total',
      'Requests of git for mirrors, by what was asked for and how it ended.',
      'request',
      'outcome',
    ),
    gitServing: gauge('workspace_git_serving', 'Requests of git that this instance answers now.'),
    gitSentBytes: counter('workspace_git_sent_bytes_total', 'What was sent to clients of git.'),
    deliveries: counter(
      'workspace_webhook_attempts_total',
      'Attempts to deliver a webhook, by how they ended.',
      'outcome',
    ),
    lockWaiters: gauge('workspace_lock_waiters', 'Requests that this instance keeps until a path is free.'),
    diskSize: gauge('workspace_disk_size_bytes', 'The size of the disk of the data folder.'),
    freeDisk: gauge('workspace_disk_free_bytes', 'What the disk of the data folder has left.'),
    lfsObjects: gauge('workspace_lfs_objects', 'LFS objects that the mirrors have.'),
    lfsBytes: gauge('workspace_lfs_bytes', 'The size of the LFS objects that the mirrors have.'),
    lfsOverLimit: gauge(
      'workspace_lfs_over_limit',
      'Workspaces whose synced branches need more LFS objects than their limit has room for.',
    ),
    lfsEvicted: counter('workspace_lfs_evicted_total', 'LFS objects that were removed to make room for others.'),
    mostHooks: gauge('workspace_webhooks_max', 'Webhooks of the workspace that has the most of them.'),
    mostWaiting: gauge(
      'workspace_webhook_deliveries_waiting_max',
      'Deliveries that wait for the webhook for which the most wait.',
    ),
    droppedEvents: gauge(
      'workspace_webhook_events_dropped',
      'Events that were not put down for a webhook, because as many deliveries to it waited as may.',
    ),
    refusedLocks: counter(
      'workspace_locks_refused_total',
      'Locks that were refused, because their workspace or their owner has as many as it may.',
    ),
    droppedAnswers: counter(
      'workspace_remembered_answers_dropped_total',
      'Answers to requests with an Idempotency-Key that were forgotten before their time, to make room.',
    ),
    tokenExchanges: counter(
      'workspace_token_exchanges_total',
      'Identities of jobs that were shown for a token, by how that ended.',
      'outcome',
    ),
    issuerTroubles: counter('workspace_issuer_troubles_total', 'Issuers that were asked for their keys in vain.'),
    expiredLocks: counter('workspace_locks_expired_total', 'Locks that reached the end of their ttl.'),
  };
  // Prometheus sees an increase only from a value to another: without a zero the first failure would not be one.
  for (const status of ['succeeded', 'failed']) metrics.syncs.inc({ status }, 0);
  for (const outcome of exchangeOutcomes) metrics.tokenExchanges.inc({ outcome }, 0);
  for (const status of [400, 408, 413, 431]) metrics.unreadable.inc({ status }, 0);
  for (const request of gitRequests)
    for (const outcome of gitOutcomes) metrics.gitRequests.inc({ request, outcome }, 0);
  for (const outcome of ['delivered', 'retry', 'given-up', 'gone']) metrics.deliveries.inc({ outcome }, 0);
  return metrics;
}
