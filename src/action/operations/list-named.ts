import type { List, NamedEntry } from '../../client/client.ts';
import { type Context, defaultLimits } from '../context.ts';
import type { ListBranchesTask } from '../inputs/load.ts';
import { type Outcome, succeeded } from '../outcome.ts';
import { redactedJson } from '../report/redact.ts';
import { count } from '../report/words.ts';

/** Everything the service sent, with the name under the key that the interface gives it. */
const asOutput = ({ redact }: Context, items: readonly NamedEntry[], key: string): string =>
  redactedJson(
    items.map(({ name, raw }) => ({ [key]: name, ...raw })),
    redact,
  );

function logList({ log }: Context, { items, incomplete }: List<NamedEntry>, sentence: string): void {
  log.group(
    sentence,
    items.map(({ name }) => name),
  );
  if (incomplete !== undefined) log.warn(incomplete);
}

export async function listWorkspaces(context: Context): Promise<Outcome> {
  const list = await context.client.listWorkspaces(defaultLimits(context));
  const sentence = `The token can see ${count(list.items.length, 'workspace')}.`;
  logList(context, list, sentence);
  return succeeded(
    { status: 'ok', count: String(list.items.length), workspaces: asOutput(context, list.items, 'id') },
    sentence,
    { head: ['Workspace'], rows: list.items.map(({ name }) => [name]) },
  );
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export async function listBranches(context: Context, { workspace }: ListBranchesTask): Promise<Outcome> {
  const list = await context.client.listBranches({ workspace }, defaultLimits(context));
  const sentence = `The workspace ${workspace} has ${count(list.items.length, 'branch', 'branches')}.`;
  logList(context, list, sentence);
  return succeeded(
    { status: 'ok', count: String(list.items.length), branches: asOutput(context, list.items, 'name') },
    sentence,
    {
      head: ['Branch', 'Head', 'Synced'],
      rows: list.items.map(({ name, raw }) => [name, text(raw['head']), text(raw['synced_head'])]),
    },
  );
}
