import { textsIn } from '../../client/json.ts';
import { quoteForLog } from '../../interface/safe-text.ts';
import {
  type InputName,
  inputNames,
  isTrue,
  isUsedBy,
  type OperationName,
  parseHookOptions,
  type RawInputs,
  row,
  splitLines,
  type ValueOf,
} from './table.ts';

/** Returns the text of an input in the workflow, like the toolkit's `getInput`. */
export type GetInput = (name: string) => string;

/** Reads each input, or otherwise its value from the environment, or otherwise the default in `action.yml`. */
export function readRawInputs(getInput: GetInput, environment: NodeJS.ProcessEnv): RawInputs {
  const read = (name: InputName): string => {
    const { from, fallback = '' } = row(name);
    return getInput(name) || (from?.(environment) ?? '').trim() || fallback;
  };
  // All names are present, which the type of Object.fromEntries does not express.
  return Object.fromEntries(inputNames.map((name) => [name, read(name)])) as Record<InputName, string>;
}

/** A warning about inputs that the workflow sets but the operation does not use. */
export function unusedText(getInput: GetInput, operation: OperationName): string | undefined {
  const unused = inputNames.filter((name) => {
    const text = getInput(name);
    // The runner sets this one from the default in action.yml.
    if (name === 'github-token' || text === '' || text === row(name).fallback) return false;
    return !isUsedBy(operation, name);
  });
  if (unused.length === 0) return undefined;
  const names = unused.map((name) => `\`${name}\``).join(', ');
  return `${unused.length === 1 ? `Input ${names} is` : `Inputs ${names} are`} not used by \`operation: ${operation}\`.`;
}

/** Masking a shorter text would make much of the log unreadable. */
export const minSecretLength = 4;

/** The secrets to mask before anything else happens, even if the inputs are invalid. */
export function secretsIn(raw: RawInputs): readonly string[] {
  const hookUrl = URL.parse(raw['hook-url']);
  const known = [
    raw.token,
    // Logs and summaries show the origin of a webhook, so a URL that is only an origin is not a secret.
    hookUrl !== null && hookUrl.href === `${hookUrl.origin}/` ? '' : raw['hook-url'],
    raw['hook-secret'],
    raw['github-token'],
    ...secretsInOptions(raw['hook-options']),
  ];
  return [...new Set(known)].filter((secret) => secret.length >= minSecretLength);
}

/** The secret and the headers of a hook. Its other options appear in logs and summaries. */
function secretsInOptions(text: string): readonly string[] {
  const options = parseHookOptions(text);
  return options.ok ? [...textsIn(options.value['secret']), ...textsIn(options.value['headers'])] : [];
}

/** An input found to be invalid after reading files. Thrown before the first request, so nothing has changed yet. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

export const wantsLedger = ({ operation, 'base-url': baseUrl, workspace }: RawInputs): boolean =>
  (operation === 'check' || operation === 'unlock') && (baseUrl === '' || workspace === '');

const unknownPlace =
  'The locks of this job do not show it: none in its ledger matches the other inputs, or they are in several workspaces.';

/** Inputs, each with those that a step must not set with it. */
const alternatives = [
  ['path', ['pool', 'changed-files', 'locks', 'locks-file']],
  ['locks', ['locks-file']],
] as const;

/** The values of the inputs, or all problems with them, so that users see all of these at once. */
export function readInputs<Name extends InputName>(
  raw: RawInputs,
  names: readonly Name[],
  environment: NodeJS.ProcessEnv,
) {
  const isSet = (name: InputName): boolean =>
    names.some((one) => one === name) && (name === 'changed-files' ? isTrue(raw[name]) : raw[name] !== '');
  const values: { [Each in Name]?: unknown } = {};
  const problems: string[] = [];
  for (const name of names) {
    const [other] =
      alternatives.find(([one, others]) => isSet(one) && isSet(name) && others.some((each) => each === name)) ?? [];
    if (other !== undefined) {
      problems.push(`Inputs \`${other}\` and \`${name}\` are both set: give only one of them.`);
      continue;
    }
    const parsed = row(name).parse(raw[name], raw, environment);
    // With a result for each line, each wrong line is a problem.
    const lines = 'ok' in parsed ? undefined : splitLines(raw[name]);
    const isPlace = name === 'base-url' || name === 'workspace';
    const place = isPlace && raw[name] === '' && wantsLedger(raw) ? ` ${unknownPlace}` : '';
    const read = [parsed].flat().flatMap((one, index) => {
      if (one.ok) return [one.value];
      const line = lines?.[index];
      problems.push(line ? lineProblem(name, line, one.reason) : `${inputText(name, raw[name])} ${one.reason}${place}`);
      return [];
    });
    values[name] = lines ? read : read[0];
  }
  if (problems.length > 0) return { ok: false, problems } as const;
  // All names are present, with the values of their own parsers.
  return { ok: true, values: values as { readonly [Each in Name]: ValueOf<Each> } } as const;
}

function inputText(name: InputName, text: string): string {
  if (text === '') return `Input \`${name}\` is missing.`;
  if (row(name).isSecret) return `Input \`${name}\` is not valid.`;
  return `Input \`${name}\` is ${quoteForLog(name === 'base-url' ? withoutCredentials(text) : text)}.`;
}

export const lineProblem = (name: InputName, line: string, reason: string): string =>
  `Input \`${name}\` has the line ${quoteForLog(line)}. ${reason}`;

/** The part of a URL before an @, the query and the fragment often contain credentials. */
const withoutCredentials = (text: string): string =>
  text.replace(/^.*@/s, '***@').replace(/([?#]).+$/s, (_, mark: string) => `${mark}***`);
