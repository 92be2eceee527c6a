import type { Logger } from 'pino';
import type { Metrics } from '../runtime/metrics.ts';
import { throttle } from '../runtime/throttle.ts';
import type { ServerEvents } from './server.ts';

/** Anyone who reaches the port can cause these events, so all are counted, but few are logged. */
const unreadable = { max: 100, everyMs: 10_000 };
const eventLimit = { max: 1, everyMs: 10_000 };

/** Logs and counts events outside of requests and responses. */
export function reportEvents(log: Logger, metrics: Metrics, clock: () => number): ServerEvents {
  const throttleUnreadable = throttle(unreadable, clock);
  const throttleDropped = throttle(eventLimit, clock);
  const throttleError = throttle(eventLimit, clock);
  const countSkipped = (skipped: number) => (skipped > 0 ? { skipped } : {});
  return {
    onUnreadable({ requestId, status, code, address }) {
      metrics.unreadable.inc({ status });
      const entry = throttleUnreadable();
      if (!entry.passes) return;
      const about = { request_id: requestId, status, code, origin_address: address, ...countSkipped(entry.skipped) };
      log.info(about, 'unreadable request');
    },
    onDropped() {
      metrics.droppedConnections.inc();
      const entry = throttleDropped();
      if (!entry.passes) return;
      log.warn(countSkipped(entry.skipped), 'too many connections: closed a new one');
    },
    onError(error) {
      const entry = throttleError();
      if (entry.passes) log.error({ err: error, ...countSkipped(entry.skipped) }, 'a connection could not be accepted');
    },
  };
}
