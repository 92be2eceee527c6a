import type { Selectable } from 'kysely';
import type { HookEvent } from '../../interface/resources.ts';
import type { Tables } from '../storage/tables.ts';
import type { HookEventOccurrence } from './event.ts';

export type HookRow = Selectable<Tables['hooks']>;

export type Subscription = Pick<HookRow, 'id' | 'workspace_id' | 'events' | 'branches'>;

/** Branches limit only the events about syncs. */
export const wantsEvent = (row: Subscription, { type, data }: Pick<HookEventOccurrence, 'type' | 'data'>): boolean =>
  eventsOf(row).includes(type) && (!('sync' in data) || (branchesOf(row)?.includes(data.sync.branch) ?? true));

// Only registerHook() writes these columns.
export const eventsOf = (row: Pick<HookRow, 'events'>): readonly HookEvent[] => JSON.parse(row.events) as HookEvent[];
export const branchesOf = (row: Pick<HookRow, 'branches'>): readonly string[] | null =>
  JSON.parse(row.branches ?? 'null') as string[] | null;
