import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import type { Json, JsonObject } from './json.ts';
import { type KnownLock, readListedLock, readLock } from './known-lock.ts';
import { type List, readPages } from './pages.ts';
import { expectResource } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess, type Request } from './request.ts';
import { objectIn } from './response.ts';
import type { Sanitizer } from './sanitizer.ts';

interface AskRequest {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly note: string | undefined;
}

type QueuedEntry = Readonly<ReturnType<typeof toQueuedEntry>>;

/** All throw a ServiceError. */
export const createQueueOperations = (context: ClientContext) => ({
  /** The service takes the lock at the turn of the owner of the token. */
  async askForLock({ workspace, path, note }: AskRequest, within: CallLimits): Promise<QueuedEntry> {
    const result = await context.call(
      {
        method: 'POST',
        target: context.endpoints.queue(workspace),
        headers: { 'idempotency-key': crypto.randomUUID() },
        body: { path, ...(note !== undefined && { note }) },
        expect: expectResource('place in line', (body) => positionIn(body) !== undefined),
      },
      within,
    );
    const { response } = expectSuccess(result);
    return toQueuedEntry(readLock(objectIn(response), path, response.sanitizer));
  },

  async withdrawRequest(
    { workspace, path }: Pick<AskRequest, 'workspace' | 'path'>,
    within: CallLimits,
  ): Promise<void> {
    const target = `${context.endpoints.queue(workspace)}?${new URLSearchParams({ path })}`;
    expectSuccess(await context.call({ method: 'DELETE', target, expect: expectNothing }, within));
  },

  listQueue: ({ workspace }: { readonly workspace: WorkspaceId }, within: CallLimits): Promise<List<QueuedEntry>> =>
    readPages(context, { target: context.endpoints.queue(workspace), name: 'queue' }, readQueued, within),
});

const expectRequest = expectResource('request for a lock', () => false);
const expectNothing: Request['expect'] = (response) => (response.status === 204 ? undefined : expectRequest(response));

function readQueued(entry: Json, sanitizer: Sanitizer): QueuedEntry | undefined {
  const read = readListedLock(entry, sanitizer);
  return read && toQueuedEntry(read);
}

/** The members that a place has in common with a lock are read in the same way. */
const toQueuedEntry = ({ path, owner, origin, note, acquired_at, raw }: KnownLock) => ({
  ...{ path, owner, origin, note, raw },
  position: positionIn(raw),
  since: acquired_at,
});

/** Counted from 1. */
function positionIn({ position }: JsonObject): number | undefined {
  return typeof position === 'number' && Number.isSafeInteger(position) && position > 0 ? position : undefined;
}
