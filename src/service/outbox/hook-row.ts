import type { Selectable } from 'kysely';
import { type HookEvent, hookEvents } from '../../interface/resources.ts';
import type { Tables } from '../storage/tables.ts';

export type HookRow = Selectable<Tables['hooks']>;

export function wantsEvent(row: HookRow, event: HookEvent, branch: string | null): boolean {
  if (!eventsOf(row).includes(event)) return false;
  const branches = branchesOf(row);
  return branch === null || branches === null || branches.includes(branch);
}

// Only registerHook() and editHook() write these columns. Events that are unknown to this version are omitted.
export const eventsOf = (row: HookRow): readonly HookEvent[] => {
  const stored = JSON.parse(row.events) as string[];
  return hookEvents.filter((event) => stored.includes(event));
};
export const branchesOf = (row: HookRow): readonly string[] | null =>
  JSON.parse(row.branches ?? 'null') as string[] | null;
