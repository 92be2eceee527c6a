import type { Logger } from 'pino';
import type { Metrics } from '../operation/metrics.ts';
import { nowAndThen } from '../operation/now-and-then.ts';
import type { ServerEvents } from './server.ts';

/** Anyone who reaches the port can cause these: each is counted, few are logged. */
const unreadable = { most: 100, everyMs: 10_000 };
const trouble = { most: 1, everyMs: 10_000 };

/** Tells the operator what happens outside of requests and answers. */
export function reportEvents(log: Logger, metrics: Metrics, clock: () => number): ServerEvents {
  const tellUnreadable = nowAndThen(unreadable, clock);
  const tellDropped = nowAndThen(trouble, clock);
  const tellError = nowAndThen(trouble, clock);
  const withUntold = (untold: number) => (untold > 0 ? { untold } : {});
  return {
    onUnreadable({ requestId, status, code, address }) {
      metrics.unreadable.inc({ status });
      const telling = tellUnreadable();
      if (!telling.tell) return;
      const about = { request_id: requestId, status, code, origin_address: address, ...withUntold(telling.untold) };
      log.info(about, 'unreadable request');
    },
    onDropped() {
      metrics.droppedConnections.inc();
      const telling = tellDropped();
      if (!telling.tell) return;
      log.warn(withUntold(telling.untold), 'too many connections: closed a new one');
    },
    onError(error) {
      const telling = tellError();
      if (telling.tell) log.error({ err: error, ...withUntold(telling.untold) }, 'a connection could not be accepted');
    },
  };
}
