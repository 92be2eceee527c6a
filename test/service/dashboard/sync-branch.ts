import { expect } from 'vitest';
import type { RunningService } from '../../support/running-service.ts';

/** Syncs a branch into the mirror of a workspace. */
export async function syncBranch(
  { ask }: RunningService,
  workspace: string,
  token: string,
  branch: string,
): Promise<void> {
  const { headers } = await ask('POST', `/v1/workspaces/${workspace}/sync`, { token, json: { branch } });
  const status = async () => (await ask('GET', headers.get('location') ?? '', { token })).body.status;
  await expect.poll(status, { timeout: 20_000, interval: 20 }).toBe('succeeded');
}
