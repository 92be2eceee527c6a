import { expect, onTestFinished, vi } from 'vitest';
import { parseWorkspaceId, type WorkspaceId } from '../../src/client/access.ts';
import { type ClientOptions, createClient } from '../../src/client/client.ts';
import type { AcquireLockResult } from '../../src/client/post-lock.ts';
import type { CallLimits, Failed, Retry } from '../../src/client/request.ts';
import { ServiceError } from '../../src/client/service-error.ts';
import { sleep } from '../../src/client/time.ts';
import { parseTtl, type Ttl } from '../../src/interface/duration.ts';
import { type LockPath, parseLockPath } from '../../src/interface/lock-path.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { json } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { valueIn } from '../support/value-in.ts';

export const workspaceId = (text: string): WorkspaceId => valueIn(parseWorkspaceId(text));
export const lockPath = (text: string): LockPath => valueIn(parseLockPath(text));
export const ttl = (text: string): Ttl => valueIn(parseTtl(text));

export const game = workspaceId('game');
export const hero = lockPath('Content/Hero.uasset');

export const token = 'wsa_0123456789abcdef0123456789abcdef';

/** Initial time of the clock of a test. */
export const start = Date.UTC(2026, 2, 1, 12);

/** Options for tests of time itself. */
export const realTime = { clock: Date.now, sleep };

/** Stops timers and clock until the end of the test: time passes only with `vi.advanceTimersByTime`. Sockets still work. */
export function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** A service that has not shown its marks yet. */
export const unmarked = { marks: undefined };

/**
 * A client in virtual time, which passes only in pauses. Its random numbers are all 0.5. By default, its service has
 * shown its marks.
 */
export function testClient(baseUrl: string, options: Partial<ClientOptions> = {}) {
  let now = start;
  /** Duration of each pause. */
  const sleeps: number[] = [];
  const warnings: string[] = [];
  const retries: Retry[] = [];
  const clock = options.clock ?? (() => now);
  const client = createClient({
    baseUrl,
    credentials: { kind: 'static', token },
    userAgent: 'client-test',
    clock,
    sleep: async (ms) => {
      sleeps.push(ms);
      now += ms;
    },
    random: () => 0.5,
    marks: { read: () => true, write: () => undefined },
    onWarning: (sentence) => warnings.push(sentence),
    onRetry: (retry) => retries.push(retry),
    ...options,
  });
  onTestFinished(() => client.dispose());
  /** Limits of two minutes by default. */
  const within = (ms = 120_000, signal?: AbortSignal): CallLimits => ({ deadline: clock() + ms, signal });
  return {
    ...client,
    clock,
    sleeps,
    warnings,
    retries,
    within,
    /** Sends an arbitrary request. */
    ask: (ms?: number, signal?: AbortSignal) => client.listWorkspaces(within(ms, signal)),
  };
}

/** A server that sends this response, and its client. */
export async function clientOf(response: Answer, options?: Partial<ClientOptions>) {
  const server = await startOtherServer(response);
  return { server, client: testClient(server.baseUrl, options) };
}

/** Returns this list of locks, and this response to all other requests. */
export const listing =
  (locks: readonly object[], answer: Answer): Answer =>
  (response, request) =>
    (request.method === 'GET' ? json(200, { locks }) : answer)(response, request);

/** Returns the error of an operation. */
export async function errorOf(operation: Promise<unknown>): Promise<ServiceError> {
  const error = await operation.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ServiceError);
  if (!(error instanceof ServiceError)) throw new Error('It did not fail.');
  return error;
}

/** The failure of a request for a lock that may have been granted. */
export function unanswered(result: AcquireLockResult): Failed {
  const failed = ofKind(result, 'failed');
  expect(failed.mayBeDone).toBe(true);
  return failed;
}

/** Narrows a union to the member of this kind; the test fails for any other. */
export function ofKind<Union extends { readonly kind: string }, Kind extends Union['kind']>(
  value: Union,
  kind: Kind,
): Extract<Union, { readonly kind: Kind }> {
  expect(value).toMatchObject({ kind });
  // Guaranteed by the line before; TypeScript cannot narrow a type parameter by it.
  return value as Extract<Union, { readonly kind: Kind }>;
}
