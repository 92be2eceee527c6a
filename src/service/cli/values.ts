import { type Flag, type FlagOptions, optional, required } from '../../command/flags.ts';
import { textOf } from '../../command/values.ts';
import { oneOf } from '../../interface/one-of.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { RateLimit } from '../access/access.ts';
import type { Field } from '../contract/field.ts';
import { type Scope, scopeMeanings, scopes } from '../contract/scopes.ts';
import { parseTokenName } from '../tokens/new-token.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';

export const scopeLine = (scope: Scope): string => `${scope} (${scopeMeanings[scope]})`;
export const parseScope = oneOf(scopes, `The scopes are ${scopes.map(scopeLine).join(', ')}.`);
export const parseFolder = textOf('the path of a folder');

export function parseHost(text: string): Parsed<string> {
  return /^[A-Za-z0-9.:%_-]+$/.test(text)
    ? accepted(text)
    : refused('It must be the name or the address of a network interface, such as 127.0.0.1, ::1 or 0.0.0.0.');
}

/** With or without `/v1`; no other path, because the dashboard links to paths that start with a slash. */
export function parsePublicUrl(text: string): Parsed<string> {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return refused('It must be like https://assets.example.com.');
  const { username, password, search, hash, origin, pathname } = new URL(text);
  if (username !== '' || password !== '')
    return refused('It must not have a user name or a password, because it is public.');
  if (search !== '' || hash !== '') return refused('It must not have a query or a fragment.');
  return /^\/*(?:v1\/*)?$/.test(pathname)
    ? accepted(origin)
    : refused('It must not have a path: the service must be at the root of its host.');
}

/** Null for no limit. */
export function parseByteLimit(text: string): Parsed<number | null> {
  if (text === 'none') return accepted(null);
  const bytes = parseByteCount(text);
  return bytes.ok && bytes.value > 0
    ? bytes
    : refused('It must be a number of bytes with a unit, such as 500MB, 1GB or 2TB, or none.');
}

const maxPerSecond = 1_000_000;

/** Burst of an idle token, in seconds of its rate: jobs request all their locks when they start. */
const burstSeconds = 60;

export function parseRateLimit(text: string): Parsed<RateLimit> {
  if (text === '0') return accepted(null);
  const [, digits] = /^(\d{1,9})\/s$/.exec(text) ?? [];
  const perSecond = Number(digits);
  if (digits === undefined || perSecond < 1 || perSecond > maxPerSecond)
    return refused(
      `It must be a number of requests per second, such as 1000/s (1/s to ${maxPerSecond}/s), or 0 for no limit.`,
    );
  return accepted({ perSecond, burst: perSecond * burstSeconds });
}

/** The prefix decides: the name of a token cannot begin like an id or a secret. */
export const parseTokenIdOrName = (text: string): Parsed<string> =>
  /^(tok|wsa)_/.test(text) ? idOf('tok', 'workspace-service token list')(text) : parseTokenName(text);

const bytesIn = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;

export function parseByteCount(text: string): Parsed<number> {
  if (text === '0') return accepted(0);
  const [, digits, unit = ''] = /^(\d{1,6})([A-Z]{1,2})$/.exec(text) ?? [];
  return isByteUnit(unit)
    ? accepted(Number(digits) * bytesIn[unit])
    : refused('It must be a number of bytes with a unit, such as 500MB, 1GB or 2TB, or 0.');
}

/** Users confuse the secret of a token with its id, so the error does not quote the value. */
export const idOf =
  (kind: 'tok' | 'hook' | 'trust', listedBy: string) =>
  (text: string): Parsed<string> =>
    new RegExp(`^${kind}_[0-9a-f-]{36}$`).test(text)
      ? accepted(text)
      : refused(`It must be an id such as ${kind}_0b7c…, as listed by "${listedBy}".`);

const isByteUnit = (text: string): text is keyof typeof bytesIn => Object.hasOwn(bytesIn, text);

export const requiredField = <T>({ placeholder, hint, parse }: Field<T>, options?: FlagOptions): Flag<T> =>
  required(placeholder, hint, parse, options);

export const optionalField = <T>({ placeholder, hint, otherwise, parse }: Field<T>, options?: FlagOptions) =>
  optional(placeholder, hint, parse, otherwise, options);

export const workspaceArgument = required('WORKSPACE', 'the id of the workspace', parseWorkspaceId);
