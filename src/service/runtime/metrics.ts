import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const metrics = {
    registry,
    requests: new Histogram({
      name: 'workspace_http_request_duration_seconds',
      help: 'Time from the first byte of a request to its answer, without what it asked to wait.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    unreadable: new Counter({
      name: 'workspace_http_unreadable_total',
      help: 'What arrived and was refused before it was a request, by the status of the refusal.',
      labelNames: ['status'],
      registers,
    }),
    droppedConnections: new Counter({
      name: 'workspace_http_connections_dropped_total',
      help: 'Connections that were closed at once, because there were too many.',
      registers,
    }),
    commits: new Histogram({
      name: 'workspace_commit_changes',
      help: 'How many changes shared a flush to disk.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    syncs: new Counter({
      name: 'workspace_syncs_total',
      help: 'Syncs that ended, by how.',
      labelNames: ['status'],
      registers,
    }),
    syncsRunning: new Gauge({ name: 'workspace_syncs_running', help: 'Syncs that this instance runs now.', registers }),
    deliveries: new Counter({
      name: 'workspace_webhook_attempts_total',
      help: 'Attempts to deliver a webhook, by how they ended.',
      labelNames: ['outcome'],
      registers,
    }),
    lockWaiters: new Gauge({
      name: 'workspace_lock_waiters',
      help: 'Requests that this instance keeps until a path is free.',
      registers,
    }),
    freeDisk: new Gauge({
      name: 'workspace_disk_free_bytes',
      help: 'What the disk of the data folder has left.',
      registers,
    }),
    mostHooks: new Gauge({
      name: 'workspace_webhooks_max',
      help: 'Webhooks of the workspace that has the most of them.',
      registers,
    }),
    mostWaiting: new Gauge({
      name: 'workspace_webhook_deliveries_waiting_max',
      help: 'Deliveries that wait for the webhook for which the most wait.',
      registers,
    }),
    droppedEvents: new Gauge({
      name: 'workspace_webhook_events_dropped',
      help: 'Events that were not put down for a webhook, because as many deliveries to it waited as may.',
      registers,
    }),
    refusedLocks: new Counter({
      name: 'workspace_locks_refused_total',
      help: 'Locks that were refused, because their workspace or their owner has as many as it may.',
      registers,
    }),
    droppedAnswers: new Counter({
      name: 'workspace_remembered_answers_dropped_total',
      help: 'Answers to requests with an Idempotency-Key that were forgotten before their time, to make room.',
      registers,
    }),
    expiredLocks: new Counter({
      name: 'workspace_locks_expired_total',
      help: 'Locks that reached the end of their ttl.',
      registers,
    }),
  };
  // Prometheus sees an increase only from a value to another: without a zero the first failure would not be one.
  for (const status of ['succeeded', 'failed']) metrics.syncs.inc({ status }, 0);
  for (const status of [400, 408, 413, 431]) metrics.unreadable.inc({ status }, 0);
  for (const outcome of ['delivered', 'retry', 'given-up', 'gone']) metrics.deliveries.inc({ outcome }, 0);
  return metrics;
}
