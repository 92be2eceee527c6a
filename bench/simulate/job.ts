import type { Grant } from '../../src/action/ledger/entry.ts';
import { giveBackAll } from '../../src/action/locks/give-back.ts';
import { createKeeper, createTaker, type Keeper } from '../../src/action/locks/keeper.ts';
import { type Played, waitForAll } from '../../src/action/locks/wait-for-all.ts';
import type { Log } from '../../src/action/log.ts';
import {
  longestAttempt as longestReleaseAttempt,
  patienceMs,
  attempts as releaseAttempts,
} from '../../src/action/post-step/release.ts';
import type { Call } from '../../src/client/call.ts';
import type { Client } from '../../src/client/client.ts';
import { parseWorkspaceId } from '../../src/client/workspace-id.ts';
import { milliseconds } from '../../src/interface/duration.ts';
import { parseTtl } from '../../src/interface/ttl.ts';
import { createVirtualCall } from './call.ts';
import type { Random } from './chance.ts';
import { askedIn, baseUrl, pageRequest } from './client.ts';
import type { ConnectionsOfAStep } from './connections.ts';
import type { SimulatedService } from './service.ts';
import type { VirtualTime } from './virtual-time.ts';
import { type Plan, requestTimeoutMs, retries, type Workload } from './workload.ts';

/** The steps of a job: the action's own code, with time and a service that are simulated. */

export interface JobParts {
  readonly time: VirtualTime;
  readonly service: SimulatedService;
  readonly clients: (call: Call) => Client;
  readonly connections: () => ConnectionsOfAStep;
  readonly random: Random;
  readonly token: string;
  readonly workload: Workload;
  /** Of a request that the service was not asked to hold back. */
  readonly onAnswer: (ms: number) => void;
}

const silent: Log = {
  line: () => undefined,
  warn: () => undefined,
  debug: () => undefined,
  group: () => undefined,
};

/** As many as the client asks for. */
const pageSize = 1_000;

function valueIn<T>(
  parsed: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string },
): T {
  if (!parsed.ok) throw new Error(parsed.why);
  return parsed.value;
}

const workspace = valueIn(parseWorkspaceId('game'));

const ordinaryAttempts = { timeoutMs: requestTimeoutMs, retries };

/** A step, with connections of its own that are closed at its end. */
async function runStep<T>(
  { time, service, clients, connections, random, token, onAnswer }: JobParts,
  attempts: typeof ordinaryAttempts,
  work: (step: { readonly call: Call; readonly client: Client; readonly keeper: Keeper }) => Promise<T>,
): Promise<T> {
  const { open, closeAll } = connections();
  const call = createVirtualCall({
    ...attempts,
    time,
    random,
    baseUrl,
    onAttempt: open,
    send(request, answer) {
      const asked = askedIn(request);
      const sentAt = time.now();
      service.send(asked, token, (answered) => {
        if (asked.kind !== 'wait') onAnswer(time.now() - sentAt);
        answer(answered);
      });
    },
  });
  const client = clients(call);
  const parts = { client, clock: time.now, sleep: time.sleep, random };
  const keeper = createKeeper({ ...parts, step: 'step', origin: undefined }, () => undefined);
  return await work({ call, client, keeper }).finally(closeAll);
}

/** What the step knows of its locks at its end. */
export interface Locked {
  readonly played: Played;
  readonly grants: readonly Grant[];
}

export const lockStep = (parts: JobParts, { paths }: Pick<Plan, 'paths'>): Promise<Locked> =>
  runStep(parts, ordinaryAttempts, async ({ client, keeper }) => {
    const { time, random, workload } = parts;
    const ttl = valueIn(parseTtl(`${workload.ttlSeconds}s`));
    const terms = { service: baseUrl.href, workspace, type: 'exclusive', ttl };
    const take = createTaker({ client, step: 'step', announce: () => undefined }, () => undefined, keeper, terms);
    const played = await waitForAll(
      {
        client,
        workspace,
        keeper,
        take,
        random,
        requestTimeoutMs,
        clock: time.now,
        sleep: time.sleep,
        signal: new AbortController().signal,
        log: silent,
      },
      paths,
      { seconds: workload.waitSeconds },
    );
    return { played, grants: played.round.kind === 'acquired' ? played.round.taken : [] };
  });

const releaseTimeoutMs = Math.min(requestTimeoutMs, milliseconds(longestReleaseAttempt));

/** The post-step: it releases what the job has, and asks about what it may have. */
export const postStep = (parts: JobParts, { played, grants }: Locked): Promise<unknown> =>
  runStep(parts, { timeoutMs: releaseTimeoutMs, retries: releaseAttempts }, ({ keeper }) => {
    const within = { deadline: parts.time.now() + patienceMs };
    return giveBackAll(keeper, { taken: grants, unclear: played.unproven }, within);
  });

/** A guard that reads the list of all locks, page after page. */
export const listStep = (parts: JobParts): Promise<void> =>
  runStep(parts, ordinaryAttempts, async ({ call }) => {
    const within = { deadline: parts.time.now() + patienceMs };
    for (let left = parts.service.lockCount(); left > 0; left -= pageSize) {
      const outcome = await call(pageRequest(Math.min(left, pageSize)), within);
      if (outcome.kind === 'given-up') break;
    }
  });
