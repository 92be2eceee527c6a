import type { WorkspaceId } from '../../client/client.ts';
import { listOnPaths, lookupIn } from '../../client/lookup.ts';
import { parseLockPath } from '../../interface/lock-path.ts';
import type { Context } from '../context.ts';
import { readJobLocks } from '../ledger/history.ts';
import { lossText } from './messages.ts';

/** The step has its own work to do. */
const maxLookMs = 5_000;

/** Says of each lock of the job that could not be renewed when it was lost, and who has the path now. */
export async function warnOfLostLocks(
  { client, clock, connection, ledger, log, signal }: Context,
  workspace: WorkspaceId,
): Promise<void> {
  const { lost } = readJobLocks(ledger, connection.baseUrl, workspace);
  const losses = lost.flatMap((loss) => {
    const path = parseLockPath(loss.path);
    return path.ok ? [{ loss, path: path.value }] : [];
  });
  if (losses.length === 0) return;
  const paths = losses.map(({ path }) => path);
  const find = await lookupIn(listOnPaths(client, workspace, paths, { deadline: clock() + maxLookMs, signal }));
  for (const { loss, path } of losses) {
    const found = find(path);
    const holder = found.kind === 'locked' ? found.lock : found.kind === 'absent' ? 'nobody' : undefined;
    log.warn(lossText(loss, holder, client.serverNow()));
  }
}
