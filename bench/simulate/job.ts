import type { Grant } from '../../src/action/ledger/entry.ts';
import { acquireLocks, giveBack, type WaitResult } from '../../src/action/locks/acquire.ts';
import { type LockSession, openLockSession } from '../../src/action/locks/session.ts';
import {
  maxRequestTimeout as maxReleaseTimeout,
  retries as releaseRetries,
  timeLimitMs as releaseTimeLimitMs,
} from '../../src/action/post-step/release.ts';
import type { Log } from '../../src/action/report/reporter.ts';
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

const nothing = (): void => undefined;

interface Step {
  readonly call: Call;
  readonly context: Pick<JobParts, 'random'> & {
    readonly client: Client;
    readonly clock: VirtualTime['now'];
    readonly sleep: VirtualTime['sleep'];
  };
  readonly session: LockSession;
}

/** A step, with connections of its own that are closed at its end. */
async function runStep<T>(
  { time, service, clients, connections, random, token, onAnswer }: JobParts,
  attempts: typeof ordinaryAttempts,
  work: (step: Step) => Promise<T>,
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
  const context = { client: clients(call), clock: time.now, sleep: time.sleep, random };
  const session = openLockSession({ ...context, step: 'step', origin: undefined, record: nothing, announce: nothing });
  return await work({ call, context, session }).finally(closeAll);
}

/** What the step knows of its locks at its end. */
export interface Locked {
  readonly result: WaitResult;
  readonly grants: readonly Grant[];
}

export const lockStep = (parts: JobParts, { paths }: Pick<Plan, 'paths'>): Promise<Locked> =>
  runStep(parts, ordinaryAttempts, async ({ context, session }) => {
    const { workload } = parts;
    const ttl = valueIn(parseTtl(`${workload.ttlSeconds}s`));
    const result = await acquireLocks(
      {
        ...context,
        session,
        terms: { service: baseUrl.href, workspace, type: 'exclusive', ttl },
        connection: { requestTimeout: { seconds: requestTimeoutMs / 1_000 } },
        signal: new AbortController().signal,
        log: silent,
      },
      paths,
      { seconds: workload.waitSeconds },
    );
    return { result, grants: result.round.kind === 'acquired' ? result.round.grants : [] };
  });

const releaseTimeoutMs = Math.min(requestTimeoutMs, milliseconds(maxReleaseTimeout));

/** The post-step: it releases what the job has, and asks about what it may have. */
export const postStep = (parts: JobParts, { result, grants }: Locked): Promise<unknown> =>
  runStep(parts, { timeoutMs: releaseTimeoutMs, retries: releaseRetries }, ({ session }) => {
    const within = { deadline: parts.time.now() + releaseTimeLimitMs };
    return giveBack(session, { acquired: grants, unclear: result.unproven }, within);
  });

/** A guard that reads the list of all locks, page after page. */
export const listStep = (parts: JobParts): Promise<void> =>
  runStep(parts, ordinaryAttempts, async ({ call }) => {
    const within = { deadline: parts.time.now() + releaseTimeLimitMs };
    for (let left = parts.service.lockCount(); left > 0; left -= pageSize) {
      const outcome = await call(pageRequest(Math.min(left, pageSize)), within);
      if (outcome.kind === 'given-up') break;
    }
  });
