import { parseToken } from '../../client/access.ts';
import { textsIn } from '../../client/json.ts';
import { parseUrgency } from '../../client/queue.ts';
import { parseDurationBetween, parseTtl, parseWait } from '../../interface/duration.ts';
import { accepted, oneOf, type Parse, parseAny, textOf, wholeNumber } from '../../interface/parsed.ts';
import { quoteForLog } from '../../interface/safe-text.ts';
import {
  parseBoolean,
  parseHandoff,
  parseHandoffFile,
  parseHookOptions,
  parseHookUrl,
  parseWorkspace,
} from './parse.ts';

export const operations = [
  'sync',
  'lock',
  'unlock',
  'list-locks',
  'register-hook',
  'list-workspaces',
  'list-branches',
  'check',
] as const;

export type OperationName = (typeof operations)[number];

interface InputRow {
  /** The default in `action.yml`. */
  readonly fallback: string;
  /** Environment variable that is read if the input is empty. */
  readonly variable?: string;
  readonly usedBy: readonly OperationName[] | 'all';
  /** Inputs whose values depend on others are parsed together with them. */
  readonly parse: Parse<unknown>;
  /** The value is never shown, even if it is invalid. */
  readonly isSecret?: true;
}

const all = 'all';
const withWorkspace = operations.filter((operation) => operation !== 'list-workspaces');
const apiToken = 'It must be an API token, without spaces or line breaks. Pass it from a secret.';
const gitHubToken =
  'It must be a GitHub token, without spaces or line breaks. Leave it out to use the token of the job.';
const audience = textOf('an audience that the service accepts, such as its origin');
/** An empty text means the origin of the service. */
const parseAudience = (text: string) => (text === '' ? accepted(text) : audience(text));
const timeout = parseDurationBetween({ seconds: 1 }, { seconds: 3_600 });

/** Every input of `action.yml`: which operations use it, and which values it may have. */
export const inputTable = {
  operation: { fallback: '', usedBy: all, parse: oneOf(operations) },
  'base-url': { fallback: '', variable: 'WORKSPACE_BASE_URL', usedBy: all, parse: accepted },
  'allow-http': { fallback: 'false', usedBy: all, parse: parseBoolean },
  token: { fallback: '', variable: 'WORKSPACE_TOKEN', usedBy: all, parse: parseToken(apiToken), isSecret: true },
  audience: { fallback: '', usedBy: all, parse: parseAudience },
  workspace: { fallback: '', variable: 'WORKSPACE_ID', usedBy: withWorkspace, parse: parseWorkspace },
  branch: { fallback: '', usedBy: ['sync'], parse: accepted },
  path: { fallback: '', usedBy: ['lock', 'unlock', 'list-locks'], parse: accepted },
  glob: { fallback: 'true', usedBy: ['lock', 'unlock', 'list-locks'], parse: parseBoolean },
  pool: { fallback: '', usedBy: ['lock'], parse: textOf('the name of a pool') },
  where: { fallback: '', usedBy: ['lock'], parse: accepted },
  any: { fallback: '', usedBy: ['lock'], parse: parseAny },
  type: { fallback: 'exclusive', usedBy: ['lock'], parse: textOf('a kind of lock, such as exclusive') },
  ttl: { fallback: '1h', usedBy: ['lock'], parse: parseTtl },
  wait: { fallback: '0s', usedBy: ['lock', 'sync'], parse: parseWait },
  priority: { fallback: 'normal', usedBy: ['lock'], parse: parseUrgency },
  'auto-release': { fallback: 'true', usedBy: ['lock'], parse: parseBoolean },
  renew: { fallback: 'false', usedBy: ['lock'], parse: parseBoolean },
  'on-lost': { fallback: 'fail', usedBy: ['lock'], parse: oneOf(['fail', 'warn', 'cancel']) },
  locks: { fallback: '', usedBy: ['unlock', 'check'], parse: parseHandoff, isSecret: true },
  'locks-file': { fallback: '', usedBy: ['unlock', 'check'], parse: parseHandoffFile },
  force: { fallback: 'false', usedBy: ['unlock'], parse: parseBoolean },
  'changed-files': { fallback: 'false', usedBy: ['list-locks'], parse: parseBoolean },
  'fail-if-locked': { fallback: 'false', usedBy: ['list-locks'], parse: parseBoolean },
  'ignore-owner': { fallback: '', usedBy: ['list-locks'], parse: accepted },
  'hook-url': { fallback: '', usedBy: ['register-hook'], parse: parseHookUrl, isSecret: true },
  'hook-events': { fallback: '', usedBy: ['register-hook'], parse: accepted },
  'hook-secret': { fallback: '', usedBy: ['register-hook'], parse: accepted, isSecret: true },
  'hook-options': { fallback: '', usedBy: ['register-hook'], parse: parseHookOptions, isSecret: true },
  'request-timeout': { fallback: '30s', usedBy: all, parse: timeout },
  retries: { fallback: '4', usedBy: all, parse: wholeNumber(0, 100) },
  summary: { fallback: 'true', usedBy: all, parse: parseBoolean },
  'github-token': { fallback: '', usedBy: ['list-locks', 'lock'], parse: parseToken(gitHubToken), isSecret: true },
} as const satisfies Record<string, InputRow>;

type InputName = keyof typeof inputTable;

export type RawInputs = Readonly<Record<InputName, string>>;

export const wantsLedger = ({ operation, 'base-url': baseUrl, workspace }: RawInputs): boolean =>
  (operation === 'check' || operation === 'unlock') && (baseUrl === '' || workspace === '');

/** Object.keys returns plain strings, but the keys of the table are exactly the input names. */
export const inputNames = Object.keys(inputTable) as InputName[];

/** Returns the text of an input in the workflow, like the toolkit's `getInput`. */
export type GetInput = (name: string) => string;

/** Reads each input, or otherwise its environment variable, or otherwise the default in `action.yml`. */
export function readRawInputs(getInput: GetInput, environment: NodeJS.ProcessEnv): RawInputs {
  const read = (name: InputName): string => {
    const { variable = '', fallback } = row(name);
    return getInput(name) || (environment[variable] ?? '').trim() || fallback;
  };
  // All names are present, which the type of Object.fromEntries does not express.
  return Object.fromEntries(inputNames.map((name) => [name, read(name)])) as Record<InputName, string>;
}

/** A warning about inputs that the workflow sets but the operation does not use. */
export function unusedText(getInput: GetInput, operation: OperationName): string | undefined {
  const unused = inputNames.filter((name) => {
    const text = getInput(name);
    const { fallback, usedBy } = row(name);
    // The runner sets this one from the default in action.yml.
    if (name === 'github-token' || text === '' || text === fallback) return false;
    return usedBy !== 'all' && !usedBy.includes(operation);
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

const row = (name: InputName): InputRow => inputTable[name];

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

type ValueOf<Name extends InputName> = (typeof inputTable)[Name]['parse'] extends Parse<infer Value> ? Value : never;

export type Reader = ReturnType<typeof createReader>;

const unknownPlace =
  'The locks of this job do not show it: there are none, they are in several workspaces, or the step names other locks.';

/** Reads inputs one by one and collects their problems, so that users see all of them at once. */
export function createReader(raw: RawInputs) {
  const problems: string[] = [];
  const addProblem = (name: InputName, reason: string): void => {
    problems.push(`${inputText(name, raw[name])} ${reason}`);
  };
  /** Undefined if the value is invalid; the problem has been recorded. */
  function readAs<T>(name: InputName, parse: Parse<T>): T | undefined {
    const parsed = parse(raw[name]);
    if (parsed.ok) return parsed.value;
    const isUnknown = raw[name] === '' && wantsLedger(raw);
    addProblem(name, isUnknown ? `${parsed.reason} ${unknownPlace}` : parsed.reason);
    return undefined;
  }
  return {
    raw,
    problems,
    addProblem,
    addLineProblem: (name: InputName, line: string, reason: string): void =>
      void problems.push(lineProblem(name, line, reason)),
    addConflict: (one: InputName, other: InputName): void =>
      void problems.push(`Inputs \`${one}\` and \`${other}\` are both set: give only one of them.`),
    readAs,
    // The parser belongs to the row, which TypeScript cannot infer for a union of names.
    read: <Name extends InputName>(name: Name) => readAs(name, inputTable[name].parse as Parse<ValueOf<Name>>),
  };
}

/** Returns the fields, or undefined if any of them is invalid. */
export function complete<const Fields extends object>(fields: Fields): Complete<Fields> | undefined {
  // The check excludes undefined fields.
  return Object.values(fields).includes(undefined) ? undefined : (fields as Complete<Fields>);
}

type Complete<Fields> = { readonly [Key in keyof Fields]: Exclude<Fields[Key], undefined> };

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
