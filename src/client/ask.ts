import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import { placeIn } from './queue.ts';
import { expectResource, orEmpty } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess } from './request.ts';
import { objectIn } from './response.ts';

interface QueuedPath {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
}

/** Both functions throw a ServiceError. */
export const createQueueOperations = ({ call, endpoints }: ClientContext) => ({
  /** Asks for the path, or changes the note of an earlier request. Returns the place in line and the response. */
  async askForLock({ workspace, path, note }: QueuedPath & { readonly note: string | undefined }, within: CallLimits) {
    const result = await call(
      {
        method: 'POST',
        target: endpoints.queue(workspace),
        headers: { 'idempotency-key': crypto.randomUUID() },
        body: { path, note },
        expect: expectResource('place in line', ({ position }) => placeIn(position) !== undefined),
      },
      within,
    );
    const raw = objectIn(expectSuccess(result).response);
    return { position: placeIn(raw['position']), raw };
  },

  async withdrawRequest({ workspace, path }: QueuedPath, within: CallLimits): Promise<void> {
    const target = `${endpoints.queue(workspace)}?${new URLSearchParams({ path })}`;
    expectSuccess(await call({ method: 'DELETE', target, expect: expectNothing }, within));
  },
});

const expectNothing = orEmpty(expectResource('request for a lock', () => false));
