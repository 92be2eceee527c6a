import type { RunningService } from '../../support/running-service.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { locksOf } from '../http/shared-service.ts';

export interface TakenLock {
  readonly id: string;
  readonly path: string;
}

export interface Taking {
  readonly ttl?: string;
  readonly origin?: string;
  readonly note?: string;
}

/** Acquires a lock as a CI pipeline does. */
export async function takeLock(
  service: RunningService,
  workspace: string,
  token: string,
  path: string,
  { ttl = '1h', origin = 'https://ci.example.com/game/runs/7/attempts/1', note }: Taking = {},
): Promise<TakenLock> {
  const response = await locksOf(service, workspace, token).take(
    path,
    { ttl, referer: origin },
    { ...(note !== undefined && { note }) },
  );
  if (response.status !== 201) throw new Error(`The lock on ${path} was not taken: ${response.text}`);
  return response.body;
}

/** Stores many locks at once: acquiring each of them would take longer than the test. */
export async function seedManyLocks({ storage }: RunningService, workspace: string, number: number): Promise<void> {
  const now = Date.now();
  for (let first = 0; first < number; first += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, number - first) }, (_, offset) => {
      const place = first + offset;
      const index = String(place).padStart(5, '0');
      return {
        workspace_id: workspace,
        path: `Content/Level${index.slice(0, 2)}/Asset${index}.uasset`,
        owner: `team-${place % 7}`,
        origin: `https://ci.example.com/game/runs/${place}`,
        acquired_at: now - place * 1_000,
        expires_at: now + 3_600_000 + place * 1_000,
      };
    });
    await storeLocks(storage, ...rows);
  }
}

export const hostileName = `"><img src=x onerror=alert(1)><script>alert(1)</script>\u202E${'x'.repeat(900)}`;

/** The same as a path, which cannot contain characters that reorder text, but may contain hidden ones. */
export const hostilePath = hostileName.replaceAll('\u202e', '\u00ad');
