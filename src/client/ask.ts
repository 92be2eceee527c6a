import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import { placeIn } from './queue.ts';
import { expectResource } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess } from './request.ts';
import { objectIn } from './response.ts';

interface AskRequest {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly note: string | undefined;
}

/** Asks for the path, or changes the note of an earlier request. Returns the place in line and the response. */
export const createAskForLock =
  ({ call, endpoints }: ClientContext) =>
  async ({ workspace, path, note }: AskRequest, within: CallLimits) => {
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
  };
