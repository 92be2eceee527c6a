import type { TaskOf } from '../inputs/task.ts';
import type { Outcome } from '../report/outcome.ts';
import { type Context, defaultLimits } from '../step/context.ts';

export async function registerHook(context: Context, task: TaskOf<'register-hook'>): Promise<Outcome> {
  const { workspace, 'hook-url': url, 'hook-events': events, 'hook-secret': secret, 'hook-options': options } = task;
  const registered = await context.client.registerHook(
    { workspace, url, options, ...(events.length > 0 && { events }), ...(secret !== '' && { secret }) },
    defaultLimits(context),
  );
  const { hook_id, madeSecret } = registered;
  // The rest of the URL often contains a secret.
  const { origin } = new URL(url);
  // Receivers of other formats authenticate by a token in the headers or the URL, and ignore signatures.
  const isSigned = (options['format'] ?? 'standard') === 'standard';
  return {
    outputs: { status: 'registered', hook_id },
    sentence: `Registered the webhook: ${workspace} now sends ${events.join(', ') || 'events'} to ${origin}.`,
    warnings: madeSecret !== undefined && isSigned ? [madeSecretText] : [],
    failures: [],
  };
}

const madeSecretText =
  'The service generated a secret for this webhook. It is not shown here. To verify deliveries, set your own with `hook-secret`.';
