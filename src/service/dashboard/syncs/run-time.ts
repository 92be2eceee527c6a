import type { Sync } from '../../../interface/resources.ts';

/** How long a sync ran, without the time it waited for its turn; undefined until it has ended. */
export function runTime({ started_at, finished_at }: Sync): number | undefined {
  if (started_at === null || finished_at === null) return undefined;
  return Date.parse(finished_at) - Date.parse(started_at);
}
