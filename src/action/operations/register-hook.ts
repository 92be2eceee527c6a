import { receiverOf } from '../inputs/parse.ts';
import type { TaskOf } from '../inputs/task.ts';
import { type Outcome, succeeded } from '../report/outcome.ts';
import { type Context, defaultLimits } from '../step/context.ts';

export async function registerHook(context: Context, task: TaskOf<'register-hook'>): Promise<Outcome> {
  const { client, log } = context;
  const { workspace, url, events, secret } = task;
  const registered = await client.registerHook(
    { workspace, url, options: task.options, ...(events.length > 0 && { events }), ...(secret !== '' && { secret }) },
    defaultLimits(context),
  );
  const { hook_id, madeSecret } = registered;
  if (madeSecret !== undefined) {
    log.line(
      'The service generated a secret, which is not shown. To verify deliveries, set your own with `hook-secret`.',
    );
  }
  const chosen = events.length > 0 ? events : textsIn(task.options['events']);
  const what = registered.replaced ? 'Replaced the webhook' : 'Registered the webhook';
  const { origin } = receiverOf(url);
  const sentence = `${what}: ${workspace} now sends events to ${origin}.`;
  log.line(sentence);
  return succeeded({ status: 'registered', ...(hook_id !== undefined && { hook_id }) }, sentence, {
    head: ['Workspace', 'Receiver', 'Events'],
    rows: [[workspace, origin, chosen.join(', ') || 'the default of the service']],
  });
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
