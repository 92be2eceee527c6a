import type { KnownLock } from '../../client/client.ts';
import { moment } from '../report/words.ts';
import { pastMoment } from './past-moment.ts';

/** "Content/Hero.uasset is held by ada until 14:05 UTC (in 12 min), taken by https://…/runs/1, since 13:05 UTC (48 min ago)". */
export function heldText(path: string, holder: KnownLock | undefined, now: number, withStart = false): string {
  const parts = [`${path} is held`];
  if (holder?.owner !== undefined) parts.push(` by ${holder.owner}`);
  if (holder?.expires_at !== undefined) parts.push(` until ${moment(Date.parse(holder.expires_at), now)}`);
  if (holder?.origin !== undefined) parts.push(`, taken by ${holder.origin}`);
  if (withStart && holder?.acquired_at !== undefined)
    parts.push(`, since ${pastMoment(Date.parse(holder.acquired_at), now)}`);
  return parts.join('');
}
