import type { Selectable } from 'kysely';
import { type HookEvent, hookEvents } from '../../interface/resources.ts';
import type { Tables } from '../storage/tables.ts';
import type { HookEventOccurrence } from './event.ts';

export type HookRow = Selectable<Tables['hooks']>;

/** Branches limit only the events about syncs. */
export const wantsEvent = (row: HookRow, { type, data }: Pick<HookEventOccurrence, 'type' | 'data'>): boolean =>
  eventsOf(row).includes(type) && (!('sync' in data) || (branchesOf(row)?.includes(data.sync.branch) ?? true));

// Only registerHook() and editHook() write these columns. Events that are unknown to this version are omitted.
export const eventsOf = (row: HookRow): readonly HookEvent[] => {
  const stored = JSON.parse(row.events) as string[];
  return hookEvents.filter((event) => stored.includes(event));
};
export const branchesOf = (row: HookRow): readonly string[] | null =>
  JSON.parse(row.branches ?? 'null') as string[] | null;
