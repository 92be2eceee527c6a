import { hookFormats } from '../../interface/resources.ts';
import { receiverOf } from '../inputs/parse.ts';
import type { TaskOf } from '../inputs/task.ts';
import type { Outcome } from '../report/outcome.ts';
import { type Context, defaultLimits } from '../step/context.ts';

export async function registerHook(context: Context, task: TaskOf<'register-hook'>): Promise<Outcome> {
  const { workspace, url, events, secret, options } = task;
  const registered = await context.client.registerHook(
    { workspace, url, options, ...(events.length > 0 && { events }), ...(secret !== '' && { secret }) },
    defaultLimits(context),
  );
  const { hook_id, madeSecret } = registered;
  const chosen = events.length > 0 ? events : textsIn(options['events']);
  const what = registered.replaced ? 'Replaced the webhook' : 'Registered the webhook';
  const { origin } = receiverOf(url);
  return {
    outputs: { status: 'registered', ...(hook_id !== undefined && { hook_id }) },
    sentence: `${what}: ${workspace} now sends events to ${origin}.`,
    warnings: madeSecret !== undefined && verifiesSignatures(options['format']) ? [madeSecretText] : [],
    table: {
      head: ['Workspace', 'Receiver', 'Events'],
      rows: [[workspace, origin, chosen.join(', ') || 'the default of the service']],
    },
    failures: [],
  };
}

const madeSecretText =
  'The service generated a secret for this webhook. It is not shown here. To verify deliveries, set your own with `hook-secret`.';

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

/** Receivers of other known formats authenticate by a token in the headers or the URL, and ignore signatures. */
const verifiesSignatures = (format: unknown): boolean =>
  format === 'standard' || !hookFormats.some((known) => known === format);
