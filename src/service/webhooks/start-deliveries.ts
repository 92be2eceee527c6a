import { startWorker, type Worker } from '../operation/worker.ts';
import { type ClaimedDelivery, claimDelivery, dueHooks } from './delivery-queue.ts';
import { type AttemptUnderWay, createDeliverySlots, type DueHook, maxUnderWay, slowAfterMs } from './delivery-slots.ts';
import { type DeliveryParts, type DeliveryTerms, runDelivery } from './run.ts';

/** How long it is believed which hooks have something due: new ones wait no longer than this for their turn. */
const dueForMs = 50;

export interface DeliveriesOptions extends DeliveryParts {
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
  readonly terms?: DeliveryTerms;
}

interface Attempt {
  readonly delivery: ClaimedDelivery;
  readonly underWay: AttemptUnderWay;
}

/** Makes deliveries as they become due, together with all other instances. */
export function startDeliveries({ pollMs, onError, terms, ...parts }: DeliveriesOptions): Worker {
  const slots = createDeliverySlots();
  let due = new Map<string, DueHook>();
  let readAt = Number.NEGATIVE_INFINITY;

  async function readDue(): Promise<void> {
    const hooks = await dueHooks(parts.storage);
    due = new Map(hooks.map((hook) => [hook.id, hook]));
    readAt = performance.now();
  }

  /** Claims for the hook whose turn it is, of those that are known to have something due. */
  async function claimKnown(): Promise<Attempt | undefined> {
    for (let hook = slots.next(due.values()); hook !== undefined; hook = slots.next(due.values())) {
      const delivery = await claimDelivery(parts.storage, hook.id);
      if (delivery !== undefined) return { delivery, underWay: slots.begin(hook) };
      due.delete(hook.id);
    }
    return undefined;
  }

  const worker = startWorker<Attempt>({
    parallel: maxUnderWay,
    pollMs,
    onError,
    async claim() {
      if (!slots.hasRoom()) return undefined;
      if (performance.now() - readAt < dueForMs) {
        const attempt = await claimKnown();
        if (attempt !== undefined) return attempt;
      }
      await readDue();
      return claimKnown();
    },
    async run({ delivery, underWay }, stopping) {
      const timer = setTimeout(() => {
        underWay.becameSlow();
        worker.wake();
      }, slowAfterMs);
      try {
        await runDelivery(parts, delivery, stopping, terms);
      } finally {
        clearTimeout(timer);
        underWay.ended();
      }
    },
  });
  return worker;
}
