import type { Grant } from '../../src/action/ledger/entry.ts';
import { acquireLocks, giveBack, type WaitResult } from '../../src/action/locks/acquire.ts';
import { openLockSession } from '../../src/action/locks/session.ts';
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
  /** Of one attempt of a request. */
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

function game() {
  const parsed = parseWorkspaceId('game');
  if (!parsed.ok) throw new Error(parsed.why);
  return parsed.value;
}

const workspace = game();

interface Attempts {
  readonly timeoutMs: number;
  readonly retries: number;
}

function callOf(
  { time, service, random, token, onAnswer }: JobParts,
  open: ConnectionsOfAStep['open'],
  how: Attempts,
): Call {
  return createVirtualCall({
    ...how,
    time,
    random,
    baseUrl,
    send: (request, answer) => service.send(askedIn(request), token, answer),
    onAttempt() {
      const began = time.now();
      const connection = open();
      return {
        done() {
          connection.done();
          onAnswer(time.now() - began);
        },
      };
    },
  });
}

const nothing = (): void => undefined;

function openSession({ time, random, clients }: JobParts, call: Call) {
  const context = { client: clients(call), clock: time.now, sleep: time.sleep, random };
  const session = openLockSession({ ...context, step: 'step', origin: undefined, record: nothing, announce: nothing });
  return { context, session };
}

/** What the step knows of its locks at its end. */
export interface Locked {
  readonly result: WaitResult;
  readonly grants: readonly Grant[];
}

export async function lockStep(parts: JobParts, { paths }: Plan): Promise<Locked> {
  const { workload } = parts;
  const connections = parts.connections();
  const call = callOf(parts, connections.open, { timeoutMs: requestTimeoutMs, retries });
  const { context, session } = openSession(parts, call);
  const ttl = parseTtl(`${workload.ttlSeconds}s`);
  if (!ttl.ok) throw new Error(ttl.why);
  const terms = { service: baseUrl.href, workspace, type: 'exclusive', ttl: ttl.value };
  const result = await acquireLocks(
    {
      ...context,
      session,
      terms,
      connection: { requestTimeout: { seconds: requestTimeoutMs / 1_000 } },
      signal: new AbortController().signal,
      log: silent,
    },
    paths,
    { seconds: workload.waitSeconds },
  );
  connections.closeAll();
  return { result, grants: result.round.kind === 'acquired' ? result.round.grants : [] };
}

/** The post-step: it releases what the job has, and asks about what it may have. */
export async function postStep(parts: JobParts, { result, grants }: Locked): Promise<void> {
  const connections = parts.connections();
  const timeoutMs = Math.min(requestTimeoutMs, milliseconds(maxReleaseTimeout));
  const { session } = openSession(parts, callOf(parts, connections.open, { timeoutMs, retries: releaseRetries }));
  const within = { deadline: parts.time.now() + releaseTimeLimitMs };
  await giveBack(session, { acquired: grants, unclear: result.unproven }, within);
  connections.closeAll();
}

/** A guard that reads the list of all locks, page after page. */
export async function listStep(parts: JobParts): Promise<void> {
  const { time, service } = parts;
  const connections = parts.connections();
  const call = callOf(parts, connections.open, { timeoutMs: requestTimeoutMs, retries });
  const within = { deadline: time.now() + releaseTimeLimitMs };
  for (let left = service.lockCount(); left > 0; left -= pageSize) {
    const outcome = await call(pageRequest(Math.min(left, pageSize)), within);
    if (outcome.kind === 'given-up') break;
  }
  connections.closeAll();
}
