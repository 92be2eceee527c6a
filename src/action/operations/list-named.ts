import type { List, NamedEntry } from '../../client/client.ts';
import type { ListBranchesTask } from '../inputs/task.ts';
import { type Outcome, succeeded } from '../outcome.ts';
import { count } from '../report/words.ts';
import { ordinaryLimits, type Parts } from './parts.ts';
import { toldJson } from './told-json.ts';

/** Everything that the service said, with the name under the key that the interface gives it. */
const asOutput = ({ conceal }: Parts, items: readonly NamedEntry[], key: string): string =>
  toldJson(
    items.map(({ name, raw }) => ({ [key]: name, ...raw })),
    conceal,
  );

function tell({ log }: Parts, { items, incomplete }: List<NamedEntry>, sentence: string): void {
  log.group(
    sentence,
    items.map(({ name }) => name),
  );
  if (incomplete !== undefined) log.warn(incomplete);
}

export async function listWorkspaces(parts: Parts): Promise<Outcome> {
  const list = await parts.client.listWorkspaces(ordinaryLimits(parts));
  const sentence = `The token can see ${count(list.items.length, 'workspace')}.`;
  tell(parts, list, sentence);
  return succeeded(
    { status: 'ok', count: String(list.items.length), workspaces: asOutput(parts, list.items, 'id') },
    sentence,
    { head: ['Workspace'], rows: list.items.map(({ name }) => [name]) },
  );
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export async function listBranches(parts: Parts, { workspace }: ListBranchesTask): Promise<Outcome> {
  const list = await parts.client.listBranches({ workspace }, ordinaryLimits(parts));
  const sentence = `The workspace ${workspace} has ${count(list.items.length, 'branch', 'branches')}.`;
  tell(parts, list, sentence);
  return succeeded(
    { status: 'ok', count: String(list.items.length), branches: asOutput(parts, list.items, 'name') },
    sentence,
    {
      head: ['Branch', 'Head', 'Synced'],
      rows: list.items.map(({ name, raw }) => [name, text(raw['head']), text(raw['synced_head'])]),
    },
  );
}
