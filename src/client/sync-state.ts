import { asObject, firstName, type JsonObject } from './json.ts';

/** How a sync goes, whatever words the service has for it. What they do not tell apart is still going on. */
export type SyncState = 'going-on' | 'succeeded' | 'failed';

const good = new Set(['succeeded', 'success', 'successful', 'synced', 'up_to_date', 'passed', 'ok']);

/** It has ended; how, something else may say. */
const over = new Set(['completed', 'complete', 'done', 'finished', 'ended', 'closed']);

const bad = new Set([
  'failed',
  'failure',
  'fail',
  'error',
  'errored',
  'cancelled',
  'canceled',
  'aborted',
  'rejected',
  'timed_out',
  'timeout',
  'timedout',
  'expired',
  'completed_with_errors',
]);

const normal = (word: string): string =>
  word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');

const saysFailed = (body: JsonObject): boolean => {
  const conclusion = firstName(body, ['conclusion', 'result', 'outcome']);
  if (conclusion !== undefined && bad.has(normal(conclusion))) return true;
  const { error, success } = body;
  return success === false || (typeof error === 'string' && error !== '') || Object.keys(asObject(error)).length > 0;
};

export function syncStateOf(status: string, body: JsonObject): SyncState {
  const word = normal(status);
  if (bad.has(word)) return 'failed';
  if (good.has(word)) return 'succeeded';
  if (!over.has(word)) return 'going-on';
  return saysFailed(body) ? 'failed' : 'succeeded';
}
