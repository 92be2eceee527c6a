import pino from 'pino';
import { onTestFinished } from 'vitest';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { type DeliveryOptions, runDelivery, startDeliveries } from '../../../src/service/webhooks/delivery-worker.ts';
import { localCheck } from './delivering.ts';
import { claimNext } from './hooked-storage.ts';

/** Retries at once, and without end. */
const impatient: DeliveryOptions = { timeoutMs: 10_000, renewEveryMs: 10_000, schedule: () => 0 };

interface Options {
  readonly options?: Partial<DeliveryOptions>;
  readonly pollMs?: number;
}

/** Starts the delivery work of one instance. It is stopped when the test ends. */
export function startDeliveryWorkers(storage: Storage, { options = {}, pollMs = 20 }: Options = {}) {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  const metrics = createMetrics();
  const onError = (error: unknown) => log.error({ err: error }, 'unexpected');
  const parts = { storage, targets: localCheck, metrics, log, pollMs, onError };
  const worker = startDeliveries({ ...parts, options: { ...impatient, ...options } });
  onTestFinished(worker.stop);
  return {
    ...worker,
    log: () => lines.join(''),
    /** The number of attempts by outcome, without outcomes that did not occur. */
    async attempts(): Promise<Readonly<Record<string, number>>> {
      const { values } = await metrics.deliveries.get();
      return Object.fromEntries(values.flatMap(({ labels, value }) => (value > 0 ? [[labels.outcome, value]] : [])));
    },
  };
}

/** Makes the attempt that is due, on the default options unless given others; false if none is due. */
export async function attemptNext(
  storage: Storage,
  { options, targets = localCheck }: Options & { readonly targets?: typeof localCheck } = {},
): Promise<boolean> {
  const claimed = await claimNext(storage);
  if (claimed === undefined) return false;
  const parts = { storage, targets, metrics: createMetrics(), log: pino({ level: 'silent' }) };
  await runDelivery(parts, claimed, new AbortController().signal, options && { ...impatient, ...options });
  return true;
}
