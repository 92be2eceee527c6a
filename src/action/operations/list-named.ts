import { nameIn } from '../../client/json.ts';
import type { NamedEntry } from '../../client/lists.ts';
import type { List } from '../../client/pages.ts';
import { pluralize } from '../../interface/format.ts';
import type { TaskOf } from '../inputs/task.ts';
import type { Outcome } from '../report/outcome.ts';
import { type Context, defaultLimits } from '../step/context.ts';

export async function listWorkspaces(context: Context): Promise<Outcome> {
  const list = await context.client.listWorkspaces(defaultLimits(context));
  const sentence = `The token can see ${pluralize(list.items.length, 'workspace')}.`;
  const rows = list.items.map(({ name }) => [name]);
  return { ...listed(list, 'workspaces', 'id'), sentence, table: { head: ['Workspace'], rows } };
}

export async function listBranches(context: Context, { workspace }: TaskOf<'list-branches'>): Promise<Outcome> {
  const list = await context.client.listBranches({ workspace }, defaultLimits(context));
  const sentence = `The workspace ${workspace} has ${pluralize(list.items.length, 'branch', 'branches')}.`;
  const rows = list.items.map(({ name, raw }) => [name, nameIn(raw['head']) ?? '', nameIn(raw['synced_head']) ?? '']);
  const table = { head: ['Branch', 'Head', 'Synced'], rows };
  return { ...listed(list, 'branches', 'name'), sentence, table };
}

/** The output has everything that the service sent, with the name of each entry under `key`. */
function listed({ items, incomplete }: List<NamedEntry>, output: string, key: string) {
  const entries = items.map(({ name, raw }) => ({ [key]: name, ...raw }));
  return {
    outputs: { status: 'ok', count: String(items.length), [output]: JSON.stringify(entries) },
    lines: items.map(({ name }) => name),
    warnings: incomplete === undefined ? [] : [incomplete],
    failures: [],
  };
}
