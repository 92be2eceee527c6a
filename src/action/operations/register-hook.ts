import { hookFormats } from '../../interface/resources.ts';
import { receiverOf } from '../inputs/parse.ts';
import type { TaskOf } from '../inputs/task.ts';
import { type Outcome, succeeded } from '../report/outcome.ts';
import { type Context, defaultLimits } from '../step/context.ts';

export async function registerHook(context: Context, task: TaskOf<'register-hook'>): Promise<Outcome> {
  const { client, log } = context;
  const { workspace, url, events, secret } = task;
  const replaced = replacedOptions(task);
  if (replaced.length > 0) {
    const texts = replaced.map((name) => `\`${name}\` (\`hook-${name}\` is used instead)`);
    log.warn(`Not used from \`hook-options\`: ${texts.join(', ')}.`);
  }
  const registered = await client.registerHook(
    { workspace, url, options: task.options, ...(events.length > 0 && { events }), ...(secret !== '' && { secret }) },
    defaultLimits(context),
  );
  const { hook_id, madeSecret } = registered;
  if (madeSecret !== undefined && verifiesSignatures(task.options['format'])) {
    log.warn(
      'The service generated a secret for this webhook. It is not shown here. To verify deliveries, set your own with `hook-secret`.',
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

/** Receivers of other known formats authenticate by a token in the headers or the URL, and ignore signatures. */
const verifiesSignatures = (format: unknown): boolean =>
  format === 'standard' || !hookFormats.some((known) => known === format);

/** Members of `hook-options` that a separate input overrides. */
function replacedOptions({ options, events, secret }: TaskOf<'register-hook'>): readonly string[] {
  const given = { url: true, events: events.length > 0, secret: secret !== '' };
  return Object.entries(given).flatMap(([name, isGiven]) => (isGiven && Object.hasOwn(options, name) ? [name] : []));
}
