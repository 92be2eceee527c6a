import { type Selectable, sql } from 'kysely';
import { type HookEvent, hookEvents } from '../../interface/resources.ts';
import type { Tables } from '../storage/tables.ts';
import type { HookEventOccurrence } from './event.ts';

export type HookRow = Selectable<Tables['hooks']>;

const removedPrefix = 'removed:';

/**
 * Replaces the URL of a hook that was removed, until its deliveries are removed too. Only clearHooks() still sees the
 * hook, and its URL can be registered again.
 */
export const removedUrl = (id: string): string => `${removedPrefix}${id}`;
export const idOfRemoved = (url: string): string => url.slice(removedPrefix.length);
export const isRemoved = sql<boolean>`url like ${sql.lit(`${removedPrefix}%`)}`;
export const isNotRemoved = sql<boolean>`not ${isRemoved}`;

export type Subscription = Pick<HookRow, 'id' | 'workspace_id' | 'events' | 'branches'>;

/** Branches limit only the events about syncs. */
export const wantsEvent = (row: Subscription, { type, data }: Pick<HookEventOccurrence, 'type' | 'data'>): boolean =>
  eventsOf(row).includes(type) && (!('sync' in data) || (branchesOf(row)?.includes(data.sync.branch) ?? true));

// Only registerHook() and editHook() write these columns. Events that are unknown to this version are omitted.
export const eventsOf = (row: Pick<HookRow, 'events'>): readonly HookEvent[] => {
  const stored = JSON.parse(row.events) as string[];
  return hookEvents.filter((event) => stored.includes(event));
};
export const branchesOf = (row: Pick<HookRow, 'branches'>): readonly string[] | null =>
  JSON.parse(row.branches ?? 'null') as string[] | null;
