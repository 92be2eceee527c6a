import { readFileSync } from 'node:fs';
import { isHeaderValue, parseWorkspaceId, type WorkspaceId } from '../../client/access.ts';
import { asObject, isArray, isObject, type Json, type JsonObject, nameIn, parseJson } from '../../client/json.ts';
import { readLock } from '../../client/known-lock.ts';
import { createSanitizer } from '../../client/sanitizer.ts';
import { errorMessage } from '../../interface/format.ts';
import { canonicalLockPath, parseHeldPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { OurLock } from '../../locks/ownership.ts';

export const splitLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The spellings of true and false in the YAML 1.2 core schema. */
export function parseBoolean(text: string): Parsed<boolean> {
  if (/^(?:true|True|TRUE)$/.test(text)) return accepted(true);
  if (/^(?:false|False|FALSE)$/.test(text)) return accepted(false);
  return refused('It must be true or false.');
}

/** Refuses JSON that is nested too deeply, because walking it would exhaust the stack. */
export function parseHookOptions(text: string): Parsed<JsonObject> {
  const json = parseJson(text || '{}');
  if (json.ok && isObject(json.value)) return accepted(json.value);
  // Does not quote the text, which may contain secrets.
  return refused('It must be a JSON object, such as {"format": "github"}.');
}

export function parseWorkspace(text: string): Parsed<WorkspaceId> {
  const workspace = parseWorkspaceId(text);
  if (workspace.ok) return workspace;
  const reason = text === '' ? 'Set it to the id of a workspace.' : workspace.reason;
  return refused(`${reason} \`operation: list-workspaces\` lists the existing ids.`);
}

export const parseHookUrl = (text: string): Parsed<string> =>
  URL.canParse(text) && /^https?:/i.test(text) ? accepted(text) : refused('It must be an https URL.');

/** Parses the file that the output `locks_file` of a lock step names. */
export function parseHandoffFile(file: string): Parsed<readonly OurLock[]> {
  try {
    return parseHandoff(readFileSync(file, 'utf8'));
  } catch (error) {
    // Omits the path from the message, because the problem already shows it, truncated.
    return refused(`The file cannot be read: ${errorMessage(error).replace(/, open '.*$/s, '')}.`);
  }
}

/** Parses the `locks` output of a lock step. An invalid entry makes it invalid: skipping would leave that lock. */
export function parseHandoff(json: string): Parsed<readonly OurLock[]> {
  const entries = parseJson(json);
  if (!entries.ok || !isArray(entries.value)) {
    return refused('It is not a JSON list. Pass the output `locks` of a lock step unchanged.');
  }
  const locks = entries.value.map(readHandoffLock);
  return locks.every((lock) => lock !== undefined)
    ? accepted(locks)
    : refused(`Entry ${locks.indexOf(undefined) + 1} is not a lock: its path, id or ETag is not valid.`);
}

/** Without its proof, a lock cannot be distinguished from a later one. */
const isProof = (json: Json | undefined): boolean => !json || (typeof json === 'string' && isHeaderValue(json));

const sanitizer = createSanitizer([]);

function readHandoffLock(entry: Json): OurLock | undefined {
  const fields = asObject(entry);
  const path = canonicalLockPath(nameIn(fields['path']) ?? '', parseHeldPath);
  if (!path.ok || !isProof(fields['id']) || !isProof(fields['etag'])) return undefined;
  const { note, origin, raw, ...lock } = readLock(fields, path.value, sanitizer);
  // As the service sent them: with other quotes, an ETag would not match.
  const [id, etag, lease] = [fields['id'], fields['etag'], fields['lease']].map(nameIn);
  return { grant: { path: path.value, lock: { ...lock, id, etag, lease } }, mayBeReleased: false };
}

/** A line of the input `path`, not compared with the checkout yet: a line with the name of a file means that file. */
export interface PathLine {
  /** `literal`: used verbatim, because of `glob: false`. `mistake`: the line cannot be meant as a path. */
  readonly kind: 'literal' | 'path' | 'pattern' | 'mistake';
  readonly text: string;
}

/**
 * A list marker, a comment, a shell variable, a home folder, or quotes around the line. Takes linear time, because each
 * alternative is anchored, and `.*` is tried only once.
 */
const mistake = /^-\s|^#|^\$|^~[/\\]|^(["']).*\1,?$/s;

export function parsePathLine(line: string, glob: boolean): Parsed<PathLine> {
  if (glob && mistake.test(line)) return accepted({ kind: 'mistake', text: line });
  if (glob && looksLikePattern(line)) return accepted({ kind: 'pattern', text: line });
  const path = canonicalLockPath(line);
  return path.ok ? accepted({ kind: glob ? 'path' : 'literal', text: line }) : path;
}

const looksLikePattern = (line: string): boolean => line.startsWith('!') || /[*?[\]{}]/.test(line);
