import type { List, NamedEntry } from '../../client/client.ts';
import { nameIn } from '../../client/json.ts';
import { pluralize } from '../../interface/format.ts';
import type { TaskOf } from '../inputs/task.ts';
import { type Outcome, succeeded } from '../report/outcome.ts';
import { redactedJson } from '../report/redact.ts';
import { type Context, defaultLimits } from '../step/context.ts';

export async function listWorkspaces(context: Context): Promise<Outcome> {
  const list = await context.client.listWorkspaces(defaultLimits(context));
  const sentence = `The token can see ${pluralize(list.items.length, 'workspace')}.`;
  const { json, ...outputs } = outputsOf(context, list, sentence, 'id');
  const rows = list.items.map(({ name }) => [name]);
  return succeeded({ ...outputs, workspaces: json }, sentence, { head: ['Workspace'], rows });
}

export async function listBranches(context: Context, { workspace }: TaskOf<'list-branches'>): Promise<Outcome> {
  const list = await context.client.listBranches({ workspace }, defaultLimits(context));
  const sentence = `The workspace ${workspace} has ${pluralize(list.items.length, 'branch', 'branches')}.`;
  const { json, ...outputs } = outputsOf(context, list, sentence, 'name');
  const rows = list.items.map(({ name, raw }) => [name, nameIn(raw['head']) ?? '', nameIn(raw['synced_head']) ?? '']);
  return succeeded({ ...outputs, branches: json }, sentence, { head: ['Branch', 'Head', 'Synced'], rows });
}

/** Logs the names. The outputs have everything that the service sent, with each name under `key`. */
function outputsOf({ log, redact }: Context, { items, incomplete }: List<NamedEntry>, sentence: string, key: string) {
  log.group(
    sentence,
    items.map(({ name }) => name),
  );
  if (incomplete !== undefined) log.warn(incomplete);
  const entries = items.map(({ name, raw }) => ({ [key]: name, ...raw }));
  return { status: 'ok', count: String(items.length), json: redactedJson(entries, redact) };
}
