import type { Grant } from '../../src/action/ledger/entry.ts';
import { acquireLocks, type WaitResult } from '../../src/action/locks/acquire.ts';
import { giveBack } from '../../src/action/locks/give-back.ts';
import { type LockSession, openLockSession } from '../../src/action/locks/session.ts';
import {
  maxRequestTimeout as maxReleaseTimeout,
  retries as releaseRetries,
  timeLimitMs as releaseTimeLimitMs,
} from '../../src/action/post-step/release.ts';
import type { Call } from '../../src/client/call.ts';
import { parseWorkspaceId } from '../../src/client/workspace-id.ts';
import { milliseconds } from '../../src/interface/duration.ts';
import { parseTtl } from '../../src/interface/ttl.ts';
import { baseUrl, type ClientOptions, pageRequest, type SimulatedClients } from './client.ts';
import type { SimulatedService } from './service.ts';
import type { VirtualTime } from './virtual-time.ts';
import { type Plan, requestTimeoutMs, retries, valueIn, type Workload } from './workload.ts';

/** The steps of a job: the action's own code, with time and a service that are simulated. */

/** A test gives others of them, to see what is simulated beside what is real. */
export interface JobParts extends Pick<ClientOptions, 'token' | 'random' | 'onAnswer'> {
  readonly time: Pick<VirtualTime, 'now' | 'sleep'>;
  readonly service: Pick<SimulatedService, 'send' | 'lockCount'>;
  readonly clients: Pick<SimulatedClients, 'open'>;
  readonly workload: Workload;
}

/** As many as the client asks for. */
const pageSize = 1_000;

const workspace = valueIn(parseWorkspaceId('game'));
const ordinaryAttempts = { timeoutMs: requestTimeoutMs, retries };
const nothing = (): void => undefined;

interface Step {
  readonly call: Call;
  readonly context: Parameters<typeof openLockSession>[0] & Pick<VirtualTime, 'sleep'> & Pick<JobParts, 'random'>;
  readonly session: LockSession;
}

/** A step, with connections of its own that are closed at its end. */
async function runStep<T>(
  { time, clients, ...parts }: JobParts,
  attempts: typeof ordinaryAttempts,
  work: (step: Step) => Promise<T>,
): Promise<T> {
  const { call, client, close } = clients.open({ ...parts, ...attempts });
  const timing = { clock: time.now, sleep: time.sleep, random: parts.random };
  const context = { ...timing, client, step: 'step', origin: undefined, record: nothing, announce: nothing };
  return await work({ call, context, session: openLockSession(context) }).finally(close);
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
        log: { line: nothing, warn: nothing, debug: nothing, group: nothing },
      },
      { paths, count: paths.length },
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
