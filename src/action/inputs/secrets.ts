import { readRawInputs } from './table.ts';
import { parseJsonObject } from './values.ts';

/** Shorter texts would blank out half of the log, and are no secrets. */
const shortestSecret = 4;

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Of the options of a hook, its secret and its headers: the rest is told in logs and summaries. */
function secretsInOptions(text: string): readonly string[] {
  const options = parseJsonObject(text);
  return options.ok ? [...textsIn(options.value['secret']), ...textsIn(options.value['headers'])] : [];
}

/** What has to be masked before anything else runs, whether the inputs are right or not. */
export function secretsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  const raw = readRawInputs(environment);
  const known = [raw.token, raw['hook-secret'], raw['github-token'], ...secretsInOptions(raw['hook-options'])];
  return [...new Set(known)].filter((secret) => secret.length >= shortestSecret);
}
