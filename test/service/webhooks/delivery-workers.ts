import pino from 'pino';
import { onTestFinished } from 'vitest';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { startWorker, type Worker } from '../../../src/service/runtime/worker.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import type { ClaimedDelivery } from '../../../src/service/webhooks/delivery-queue.ts';
import { type DeliveryParts, type DeliveryTerms, runDelivery } from '../../../src/service/webhooks/delivery-worker.ts';
import type { TargetCheck } from '../../../src/service/webhooks/target-address.ts';
import { claimNext } from './claim-next.ts';
import { localCheck } from './delivering.ts';

/** Everything is tried again at once, and without end. */
export const impatient: DeliveryTerms = { timeoutMs: 10_000, renewEveryMs: 10_000, schedule: () => 0 };

export interface DeliveryWorkers extends Worker {
  log(): string;
  /** How many ended in which way, without those ways in which none did. */
  attempts(): Promise<Readonly<Record<string, number>>>;
}

interface Options {
  readonly terms?: Partial<DeliveryTerms>;
  readonly targets?: TargetCheck;
}

function parts(storage: Storage, targets: TargetCheck) {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  return { storage, targets, metrics: createMetrics(), log, lines } satisfies DeliveryParts & { lines: string[] };
}

/** What one instance does about deliveries. It is stopped when the test ends. */
export function startDeliveryWorkers(
  storage: Storage,
  { terms = {}, targets = localCheck }: Options = {},
): DeliveryWorkers {
  const { lines, ...given } = parts(storage, targets);
  const worker = startWorker<ClaimedDelivery>({
    parallel: 8,
    pollMs: 20,
    claim: () => claimNext(storage),
    run: async (delivery, stopping) => void (await runDelivery(given, delivery, stopping, { ...impatient, ...terms })),
    onError: (error) => given.log.error({ err: error }, 'unexpected'),
  });
  onTestFinished(() => worker.stop());
  return {
    ...worker,
    log: () => lines.join(''),
    async attempts() {
      const { values } = await given.metrics.deliveries.get();
      return Object.fromEntries(values.flatMap(({ labels, value }) => (value > 0 ? [[labels.outcome, value]] : [])));
    },
  };
}

/** Makes the attempt that is due, on the usual terms unless told otherwise; false when none is. */
export async function attemptNext(storage: Storage, { terms, targets = localCheck }: Options = {}): Promise<boolean> {
  const claimed = await claimNext(storage);
  if (claimed === undefined) return false;
  const { lines: _, ...given } = parts(storage, targets);
  const never = new AbortController().signal;
  await (terms === undefined
    ? runDelivery(given, claimed, never)
    : runDelivery(given, claimed, never, { ...impatient, ...terms }));
  return true;
}
