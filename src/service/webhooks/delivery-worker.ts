import type { Instance } from '../instance/instance.ts';
import type { HookEventOccurrence } from '../outbox/event.ts';
import { startWorker, type WorkerOptions } from '../runtime/worker.ts';
import { claimMs, endClaim } from '../storage/claim.ts';
import { type DeliveryResult, deliver, nextAttemptAfter } from './deliver.ts';
import {
  type ClaimedDelivery,
  claimDelivery,
  type DeliveryEnd,
  type DueHook,
  dueHooks,
  settleDelivery,
} from './delivery-queue.ts';
import { deliveryRequest } from './formats.ts';

type DeliveryParts = Pick<Instance, 'storage' | 'targets' | 'metrics' | 'log'>;

export type DeliveryOptions = typeof defaultOptions;

interface DeliveryWorkerOptions extends DeliveryParts, Pick<WorkerOptions<unknown>, 'pollMs' | 'onError'> {
  readonly options?: DeliveryOptions;
}

/** Makes deliveries when they are due. All instances share them. */
export function startDeliveries({ pollMs, onError, options, ...parts }: DeliveryWorkerOptions) {
  const slots = createDeliverySlots();
  const worker = startWorker({
    parallel: maxParallelAttempts,
    pollMs,
    onError,
    async claim() {
      const due = new Map((await dueHooks(parts.storage)).map((hook) => [hook.id, hook]));
      for (let hook = slots.next(due.values()); hook !== undefined; hook = slots.next(due.values())) {
        const delivery = await claimDelivery(parts.storage, hook.id);
        if (delivery !== undefined) return { delivery, ended: slots.start(hook) };
        due.delete(hook.id);
      }
      return undefined;
    },
    async run({ delivery, ended }, stopping) {
      let hasFailed = false;
      try {
        const end = await runDelivery(parts, delivery, stopping, options);
        hasFailed = end?.kind === 'retry' || end?.kind === 'given-up';
      } finally {
        ended(hasFailed);
      }
    },
  });
  parts.storage.onQueued('deliveries', worker.wake);
  return worker;
}

/** An attempt always ends long before its claim, which is not renewed. */
const defaultOptions = { timeoutMs: claimMs / 2, schedule: nextAttemptAfter };

/** Makes one attempt at a claimed delivery, and records its result. Undefined if the attempt does not count. */
export async function runDelivery(
  { storage, targets, metrics, log }: DeliveryParts,
  delivery: ClaimedDelivery,
  stopping: AbortSignal,
  { timeoutMs, schedule } = defaultOptions,
): Promise<DeliveryEnd | undefined> {
  // Only recordEvents() writes the column.
  const event = JSON.parse(delivery.event) as HookEventOccurrence;
  const request = deliveryRequest(delivery.hook, event, new Date(delivery.claimedAt));
  const outcome = await deliver(request, { check: targets, timeoutMs, signal: stopping });
  const end = endOf(outcome, delivery, schedule);
  if (end === undefined) {
    // Attempts are counted only when they end.
    await endClaim(storage, 'deliveries', delivery, { counted: 0 });
    return undefined;
  }
  const about = { delivery: delivery.id, hook: delivery.hook.id, workspace: delivery.hook.workspace_id };
  const isSettled = await storage.commit({ workspace: about.workspace }, (db) => settleDelivery(db, delivery, end));
  if (!isSettled) {
    log.info(about, 'delivery taken over by another instance, or webhook removed');
    return undefined;
  }
  metrics.deliveries.inc({ outcome: end.kind });
  if (end.kind !== 'delivered') {
    log.warn(
      { ...about, attempt: delivery.attempts + 1, outcome: end.kind, reason: end.reason },
      'webhook delivery failed',
    );
  }
  return end;
}

/**
 * For deliveries that waited for others first. The retry schedule ends long before this limit, but without it, the
 * queue of a dead receiver would never end.
 */
const maxAgeMs = 7 * 24 * 60 * 60 * 1_000;

/** Undefined for a cancelled attempt, which says nothing about the receiver. */
function endOf(
  outcome: DeliveryResult,
  { attempts, claimedAt, created_at }: ClaimedDelivery,
  schedule: DeliveryOptions['schedule'],
): DeliveryEnd | undefined {
  if (outcome.kind === 'cancelled') return undefined;
  if (outcome.kind !== 'failed') return outcome;
  const { reason } = outcome;
  const afterMs = schedule(attempts + 1);
  if (afterMs === undefined || claimedAt - created_at > maxAgeMs) return { kind: 'given-up', reason };
  return { kind: 'retry', afterMs, reason };
}

/** Limits the parallel attempts of an instance, because each takes a connection. */
export const maxParallelAttempts = 256;
export const maxPerWorkspace = 32;
export const maxPerHook = 4;

/** Prevents continuous attempts at a hook that fails immediately. */
const pauseAfterFailureMs = 250;

/** Shares the attempts of this instance among workspaces, and those of a workspace among its hooks. */
export function createDeliverySlots() {
  const running = new Set<DueHook>();
  const paused = new Set<string>();

  return {
    /** The next hook to serve. Undefined if all hooks with due deliveries have reached their limits. */
    next(due: Iterable<DueHook>): DueHook | undefined {
      if (running.size >= maxParallelAttempts) return undefined;
      const ofWorkspace = countBy(running, ({ workspace }) => workspace);
      const ofHook = countBy(running, ({ id }) => id);
      const [first] = [...due]
        .filter(
          (hook) =>
            !paused.has(hook.id) &&
            ofHook(hook) < (hook.isFailing ? 1 : maxPerHook) &&
            ofWorkspace(hook) < maxPerWorkspace,
        )
        .sort((a, b) => ofWorkspace(a) - ofWorkspace(b) || ofHook(a) - ofHook(b) || a.since - b.since);
      return first;
    },

    /** Returns a function to call when the attempt has ended. */
    start(hook: DueHook) {
      const attempt = { ...hook };
      running.add(attempt);
      return (hasFailed: boolean): void => {
        running.delete(attempt);
        if (!hasFailed) return;
        paused.add(hook.id);
        setTimeout(() => paused.delete(hook.id), pauseAfterFailureMs).unref();
      };
    },
  };
}

function countBy(hooks: Iterable<DueHook>, keyOf: (hook: DueHook) => string): (hook: DueHook) => number {
  const groups = Map.groupBy(hooks, keyOf);
  return (hook) => groups.get(keyOf(hook))?.length ?? 0;
}
