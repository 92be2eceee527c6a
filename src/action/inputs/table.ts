import {
  parseBaseUrl,
  parseToken,
  parseWorkspaceId,
  readIdentityRequest,
  type WorkspaceId,
} from '../../client/access.ts';
import { isObject, type JsonObject, parseJson } from '../../client/json.ts';
import { parseUrgency } from '../../client/queue.ts';
import { parseDurationBetween, parseTtl, parseWait } from '../../interface/duration.ts';
import { canonicalLockPath } from '../../interface/lock-path.ts';
import {
  accepted,
  oneOf,
  type Parse,
  type Parsed,
  parseAny,
  parseNameValue,
  refused,
  textOf,
  wholeNumber,
} from '../../interface/parsed.ts';
import { parseHandoff, parseHandoffFile } from './handoff.ts';
import { runBranch } from './run-branch.ts';

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
  /** The default in `action.yml`; empty if it has none. */
  readonly fallback?: string;
  /** The value if the input is empty. */
  readonly from?: (environment: NodeJS.ProcessEnv) => string | undefined;
  readonly usedBy: readonly OperationName[] | 'all';
  /** Returns a list if each line is parsed on its own. */
  readonly parse: (
    text: string,
    raw: RawInputs,
    environment: NodeJS.ProcessEnv,
  ) => Parsed<unknown> | readonly Parsed<unknown>[];
  /** The value is never shown, even if it is invalid. */
  readonly isSecret?: true;
}

const all = 'all';
const withWorkspace = operations.filter((operation) => operation !== 'list-workspaces');
const withPath = ['lock', 'unlock', 'list-locks'] as const;
const parseApiToken = parseToken('It must be an API token, without spaces or line breaks. Pass it from a secret.');
const parseAudience = textOf('an audience that the service accepts, such as its origin');
const timeout = parseDurationBetween({ seconds: 1 }, { seconds: 3_600 });
const anyText: Parse<string> = accepted;
const eventNames = (text: string) => accepted(splitLines(text.replaceAll(',', '\n')));
const variable = (name: string) => (environment: NodeJS.ProcessEnv) => environment[name];
const optional =
  <T>(parse: Parse<T>): Parse<T | undefined> =>
  (text) =>
    text === '' ? accepted(undefined) : parse(text);

export const splitLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Other inputs, on which the value of an input depends. */
type Raw<Name extends string> = Readonly<Record<Name, string>>;

/** The spellings of true and false in the YAML 1.2 core schema. */
export const isTrue = (text: string): boolean => /^(?:true|True|TRUE)$/.test(text);
const isFalse = (text: string): boolean => /^(?:false|False|FALSE)$/.test(text);

const parseBoolean = (text: string): Parsed<boolean> =>
  isTrue(text) || isFalse(text) ? accepted(isTrue(text)) : refused('It must be true or false.');

/** An invalid `allow-http` has its own problem, and must not make the URL invalid, too. */
const parseUrl = (text: string, others: Raw<'allow-http'>): Parsed<string> =>
  parseBaseUrl(text, !isFalse(others['allow-http']), '`allow-http: true`');

const credentialsAdvice =
  'Pass a token of the service from a secret, or let the job authenticate with its OIDC token: give it `id-token: write`, under `permissions:`, and have the operator of the service add a trust rule.';

/** A token in the inputs takes precedence over the identity of the job. */
function parseCredentials(text: string, _: object, environment: NodeJS.ProcessEnv) {
  if (text !== '') {
    const token = parseApiToken(text);
    return token.ok ? accepted({ kind: 'static', token: token.value } as const) : token;
  }
  const issuer = readIdentityRequest(environment);
  return issuer ? accepted({ kind: 'identity', issuer } as const) : refused(credentialsAdvice);
}

const parseBranchName = textOf('the name of a branch');

const parseBranch = (text: string): Parsed<string> =>
  text === '' ? refused('The run is not on a branch: name the branch to sync.') : parseBranchName(text);

const renewalEnds =
  'Renewal ends with the job, so the locks of a step with `auto-release: false` would expire one `ttl` after it. Leave `renew` out, and choose a `ttl` that covers all jobs that need the locks.';

const parseRenew = (text: string, others: Raw<'auto-release'>): Parsed<boolean> =>
  isTrue(text) && isFalse(others['auto-release']) ? refused(renewalEnds) : parseBoolean(text);

const parseReaction = oneOf(['fail', 'warn', 'cancel']);

const parseOnLost = (text: string, { renew }: Raw<'renew'>) =>
  text === 'cancel' && isFalse(renew)
    ? refused('It works only with `renew: true`: otherwise a loss is not noticed at once.')
    : parseReaction(text);

const parseUsedGitHubToken = parseToken(
  'It must be a GitHub token, without spaces or line breaks. Leave it out to use the token of the job.',
);

/** Not checked if it is not used, because the runner sets it. */
function parseGitHubToken(text: string, others: Raw<'operation' | 'on-lost' | 'changed-files'>): Parsed<string> {
  const isUsed = others.operation === 'lock' ? others['on-lost'] === 'cancel' : isTrue(others['changed-files']);
  return isUsed ? parseUsedGitHubToken(text) : accepted('');
}

/** Refuses JSON that is nested too deeply, because walking it would exhaust the stack. */
export function parseHookOptions(text: string): Parsed<JsonObject> {
  const json = parseJson(text || '{}');
  if (json.ok && isObject(json.value)) return accepted(json.value);
  // Does not quote the text, which may contain secrets.
  return refused('It must be a JSON object, such as {"format": "github"}.');
}

function parseWorkspace(text: string): Parsed<WorkspaceId> {
  const workspace = parseWorkspaceId(text);
  if (workspace.ok) return workspace;
  const reason = text === '' ? 'Set it to the id of a workspace.' : workspace.reason;
  return refused(`${reason} \`operation: list-workspaces\` lists the existing ids.`);
}

const parseHookUrl = (text: string): Parsed<string> =>
  URL.canParse(text) && /^https?:/i.test(text) ? accepted(text) : refused('It must be an https URL.');

/**
 * A list marker, a comment, a shell variable, a home folder, or quotes around the line. Takes linear time, because each
 * alternative is anchored, and `.*` is tried only once.
 */
export const isMistake = (line: string): boolean => /^-\s|^#|^\$|^~[/\\]|^(["']).*\1,?$/s.test(line);

export const isPattern = (line: string): boolean => !isMistake(line) && /^!|[*?[\]{}]/.test(line);

/** The lines are not compared with the checkout yet: a line with the name of a file means that file. */
function parsePaths(text: string, { operation, pool, glob }: Raw<'operation' | 'pool' | 'glob'>) {
  if (text === '' && operation === 'lock' && pool === '') return refused('List the paths to lock, one per line.');
  return splitLines(text).map((line): Parsed<string> => {
    // If `glob` is invalid, checks only lines that cannot be patterns.
    if (!isFalse(glob) && (isMistake(line) || isPattern(line))) return accepted(line);
    const path = canonicalLockPath(line);
    return path.ok ? accepted(line) : path;
  });
}

function parseWhere(text: string, { pool }: Raw<'pool'>) {
  if (text !== '' && pool === '') return refused('It works only with `pool`: set `pool` as well.');
  const names = new Set<string>();
  return splitLines(text).map((line) => {
    const property = parseNameValue(line);
    if (!property.ok) return property;
    const [name] = property.value;
    if (names.has(name)) return refused('No item has two values of the same property.');
    names.add(name);
    return property;
  });
}

/** Every input of `action.yml`: which operations use it, and which values it may have. */
export const inputTable = {
  operation: { usedBy: all, parse: oneOf(operations) },
  'base-url': { from: variable('WORKSPACE_BASE_URL'), usedBy: all, parse: parseUrl },
  'allow-http': { fallback: 'false', usedBy: all, parse: parseBoolean },
  token: { from: variable('WORKSPACE_TOKEN'), usedBy: all, parse: parseCredentials, isSecret: true },
  /** The default is the origin of the service. */
  audience: { usedBy: all, parse: optional(parseAudience) },
  workspace: { from: variable('WORKSPACE_ID'), usedBy: withWorkspace, parse: parseWorkspace },
  branch: { from: runBranch, usedBy: ['sync'], parse: parseBranch },
  path: { usedBy: withPath, parse: parsePaths },
  glob: { fallback: 'true', usedBy: withPath, parse: parseBoolean },
  pool: { usedBy: ['lock'], parse: optional(textOf('the name of a pool')) },
  where: { usedBy: ['lock'], parse: parseWhere },
  any: { usedBy: ['lock'], parse: optional(parseAny) },
  type: { fallback: 'exclusive', usedBy: ['lock'], parse: textOf('a kind of lock, such as exclusive') },
  ttl: { fallback: '1h', usedBy: ['lock'], parse: parseTtl },
  wait: { fallback: '0s', usedBy: ['lock', 'sync'], parse: parseWait },
  priority: { fallback: 'normal', usedBy: ['lock'], parse: parseUrgency },
  'auto-release': { fallback: 'true', usedBy: ['lock'], parse: parseBoolean },
  renew: { fallback: 'false', usedBy: ['lock'], parse: parseRenew },
  'on-lost': { fallback: 'fail', usedBy: ['lock'], parse: parseOnLost },
  locks: { usedBy: ['unlock', 'check'], parse: optional(parseHandoff), isSecret: true },
  'locks-file': { usedBy: ['unlock', 'check'], parse: optional(parseHandoffFile) },
  force: { fallback: 'false', usedBy: ['unlock'], parse: parseBoolean },
  'changed-files': { fallback: 'false', usedBy: ['list-locks'], parse: parseBoolean },
  'fail-if-locked': { fallback: 'false', usedBy: ['list-locks'], parse: parseBoolean },
  'ignore-owner': { usedBy: ['list-locks'], parse: (text: string) => accepted(splitLines(text)) },
  'hook-url': { usedBy: ['register-hook'], parse: parseHookUrl, isSecret: true },
  'hook-events': { usedBy: ['register-hook'], parse: eventNames },
  'hook-secret': { usedBy: ['register-hook'], parse: anyText, isSecret: true },
  'hook-options': { usedBy: ['register-hook'], parse: parseHookOptions, isSecret: true },
  'request-timeout': { fallback: '30s', usedBy: all, parse: timeout },
  retries: { fallback: '4', usedBy: all, parse: wholeNumber(0, 100) },
  summary: { fallback: 'true', usedBy: all, parse: parseBoolean },
  'github-token': { usedBy: ['list-locks', 'lock'], parse: parseGitHubToken, isSecret: true },
} as const;

export type InputName = keyof typeof inputTable;

export type RawInputs = Readonly<Record<InputName, string>>;

/** Object.keys returns plain strings, but the keys of the table are exactly the input names. */
export const inputNames = Object.keys(inputTable) as InputName[];

export const row = (name: InputName): InputRow => inputTable[name];

/** Without an operation, whether all operations use the input. */
export function isUsedBy(operation: OperationName | undefined, name: InputName): boolean {
  const { usedBy } = row(name);
  return usedBy === 'all' || (operation !== undefined && usedBy.includes(operation));
}

export type ValueOf<Name extends InputName> = Value<ReturnType<(typeof inputTable)[Name]['parse']>>;

type Value<Read> = Read extends readonly Parsed<infer Line>[]
  ? readonly Line[]
  : Read extends { readonly ok: true; readonly value: infer One }
    ? One
    : never;
