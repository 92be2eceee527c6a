import { startWorker, type Worker } from '../operation/worker.ts';
import { claimDelivery, isAnyDue } from './delivery-queue.ts';
import { type DeliveryParts, runDelivery } from './run.ts';

const mostAtOnce = 16;
/** A receiver that hangs must not keep the others waiting. */
const mostPerHook = 4;

export interface DeliveriesOptions extends DeliveryParts {
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

/** Makes deliveries as they become due, together with all other instances. */
export function startDeliveries({ pollMs, onError, ...parts }: DeliveriesOptions): Worker {
  const underWay = new Map<string, number>();

  function count(hook: string, change: 1 | -1): void {
    const number = (underWay.get(hook) ?? 0) + change;
    if (number === 0) underWay.delete(hook);
    else underWay.set(hook, number);
  }

  return startWorker({
    parallel: mostAtOnce,
    pollMs,
    onError,
    async claim() {
      // Each change of a lock is a reason to look, and most looks of an idle instance find nothing.
      if (underWay.size === 0 && !(await isAnyDue(parts.storage))) return undefined;
      const busy = [...underWay].filter(([, deliveries]) => deliveries >= mostPerHook).map(([hook]) => hook);
      const delivery = await claimDelivery(parts.storage, busy);
      if (delivery !== undefined) count(delivery.hook.id, 1);
      return delivery;
    },
    async run(delivery, stopping) {
      try {
        await runDelivery(parts, delivery, stopping);
      } finally {
        count(delivery.hook.id, -1);
      }
    },
  });
}
