import type { Tables } from '../storage/tables.ts';

/**
 * Every table with its primary key, in the order of a backup: a table follows those that it references. The audit and
 * the deliveries are ordered by their sequence, because the audit accepts rows only in that order.
 */
const keys: { readonly [T in keyof Tables]: readonly (keyof Tables[T])[] } = {
  workspaces: ['id'],
  tokens: ['id'],
  trust_rules: ['id'],
  sessions: ['hash'],
  sign_in_links: ['hash'],
  fences: ['workspace_id'],
  quotas: ['name'],
  signing_keys: ['name'],
  locks: ['workspace_id', 'path'],
  leases: ['workspace_id', 'id'],
  lock_history: ['workspace_id', 'at', 'fence', 'kind'],
  waits: ['id'],
  wait_paths: ['wait_id', 'path'],
  lock_requests: ['workspace_id', 'path', 'owner'],
  pool_items: ['workspace_id', 'pool', 'path'],
  synced_branches: ['workspace_id', 'name'],
  syncs: ['id'],
  hooks: ['id'],
  hook_backlogs: ['hook_id'],
  deliveries: ['sequence'],
  remembered_answers: ['token_id', 'workspace_id', 'key'],
  audit: ['sequence'],
};

export const tableKeys: readonly (readonly [table: string, key: readonly string[]])[] = Object.entries(keys);
