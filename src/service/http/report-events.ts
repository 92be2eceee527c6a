import type { Logger } from 'pino';
import type { Metrics } from '../runtime/metrics.ts';
import { throttle } from '../runtime/throttle.ts';
import type { Unreadable } from './unreadable.ts';

export type ServerEvents = ReturnType<typeof reportEvents>;

/** Anyone who reaches the port can cause these events, so all are counted, but few are logged. */
const unreadableLimit = { max: 100, everyMs: 10_000 };
const eventLimit = { max: 1, everyMs: 10_000 };

/** Logs and counts events outside of requests and responses. */
export function reportEvents(log: Logger, metrics: Metrics, clock: () => number) {
  const reportUnreadable = throttle(unreadableLimit, clock);
  const reportDropped = throttle(eventLimit, clock);
  const reportError = throttle(eventLimit, clock);
  return {
    onUnreadable({ requestId, status, code, address }: Unreadable): void {
      metrics.unreadable.inc({ status });
      const about = { request_id: requestId, status, code, origin_address: address };
      reportUnreadable((after) => log.info({ ...about, ...after }, 'unreadable request'));
    },
    onDropped(): void {
      metrics.droppedConnections.inc();
      reportDropped((after) => log.warn(after, 'too many connections: closed a new one'));
    },
    onError(error: Error): void {
      reportError((after) => log.error({ err: error, ...after }, 'could not accept a connection'));
    },
  };
}
