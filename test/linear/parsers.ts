import type { IncomingMessage } from 'node:http';
import { parseChange } from '../../src/action/changed-files/change.ts';
import { readFiles } from '../../src/action/changed-files/listed-files.ts';
import { loadInputs } from '../../src/action/inputs/load.ts';
import {
  parseBaseUrl,
  parseBoolean,
  parseDurationBetween,
  parseHandoff,
  parseJsonObject,
  parseLossReaction,
  parseWholeNumber,
} from '../../src/action/inputs/parse.ts';
import { readRawInputs } from '../../src/action/inputs/table.ts';
import { readEntry } from '../../src/action/ledger/entry.ts';
import { parseSavedState } from '../../src/action/ledger/saved-state.ts';
import { whyNotQuick } from '../../src/action/paths/pattern-cost.ts';
import { inHtml, oneLine } from '../../src/action/report/redact.ts';
import { parseLinks, readAnswer } from '../../src/client/answer.ts';
import { dateOf, timestampIn } from '../../src/client/clock.ts';
import { deprecationIn } from '../../src/client/deprecation.ts';
import { parseJson } from '../../src/client/json.ts';
import { readListedLock, readLock } from '../../src/client/known-lock.ts';
import { readBranch, readNamed, readWorkspace } from '../../src/client/lists.ts';
import { rateLimitIn } from '../../src/client/rate-limit.ts';
import { fieldsOf, isOwnError, refusalOf, wordsOf } from '../../src/client/refusal.ts';
import { isStillRunning } from '../../src/client/retry.ts';
import { createServiceText, htmlToText, plainName } from '../../src/client/service-text.ts';
import { syncStateOf } from '../../src/client/sync.ts';
import { parseWorkspaceId as parseNamedWorkspace } from '../../src/client/workspace-id.ts';
import { parseDuration } from '../../src/interface/duration.ts';
import { canonicalLockPath, lockPathFromUrl, parseLockPath } from '../../src/interface/lock-path.ts';
import type { Parsed } from '../../src/interface/parsed.ts';
import { createRedactor, redactCut, spellingsOf } from '../../src/interface/redact.ts';
import { parseRetryAfter } from '../../src/interface/retry-after.ts';
import { isScope } from '../../src/interface/scopes.ts';
import { parseTtl } from '../../src/interface/ttl.ts';
import { readCursor } from '../../src/service/api/lock-list.ts';
import { originOf } from '../../src/service/api/origin.ts';
import { preferredWait } from '../../src/service/api/prefer.ts';
import { lockRequestSchema, plainText } from '../../src/service/contract/schemas.ts';
import { parseRequestPart } from '../../src/service/contract/validate.ts';
import { matching, parseListQuery, sorted } from '../../src/service/dashboard/assets/lock-list.js';
import { safeText } from '../../src/service/dashboard/assets/text.js';
import { parseForm } from '../../src/service/dashboard/frame/form.ts';
import { sessionSecretIn } from '../../src/service/dashboard/frame/session.ts';
import { untouched as emptyHook, readNewHook } from '../../src/service/dashboard/pages/new-hook-form.ts';
import { untouched as emptyToken, readNewToken } from '../../src/service/dashboard/pages/new-token-form.ts';
import { localPath } from '../../src/service/dashboard/pages/sign-in.ts';
import { parseBranchName } from '../../src/service/git/branch-name.ts';
import { intoLines, wordsOfGit } from '../../src/service/git/git-output.ts';
import { createRemoteRedactor } from '../../src/service/git/redact.ts';
import { parseRemote } from '../../src/service/git/remote.ts';
import { collectBranches } from '../../src/service/git/remote-branches.ts';
import { readProgress } from '../../src/service/git/transfer.ts';
import { createClientAddress } from '../../src/service/http/client-address.ts';
import { hasValidHost, originForm, routingPath } from '../../src/service/http/request-target.ts';
import { readQuery } from '../../src/service/http/urlencoded.ts';
import { keyedRequest } from '../../src/service/idempotency/keyed-request.ts';
import { parseIfMatch } from '../../src/service/locks/id-match.ts';
import { parseCidr, parseIpAddress } from '../../src/service/platform/ip-address.ts';
import { unsealed } from '../../src/service/sessions/secret.ts';
import { parseAuditActor } from '../../src/service/tokens/audit-actor.ts';
import { parseLifetime, parseTokenName } from '../../src/service/tokens/new-token.ts';
import { looksLikeTokenSecret } from '../../src/service/tokens/secret.ts';
import { requestSecrets } from '../../src/service/webhooks/delivery-request.ts';
import { parseExtraHeaders } from '../../src/service/webhooks/extra-headers.ts';
import { wholeAnswer } from '../../src/service/webhooks/receiver-answer.ts';
import { hookRequestSchema } from '../../src/service/webhooks/registration.ts';
import { retryAfterSeconds } from '../../src/service/webhooks/retry-schedule.ts';
import { newSecret, parseSecret } from '../../src/service/webhooks/signature.ts';
import { parseTarget } from '../../src/service/webhooks/target.ts';
import { parseWorkspaceId } from '../../src/service/workspaces/workspace-id.ts';

/** A text that grows: what it begins with, what is repeated, and what it ends with. */
export type Shape = readonly [before: string, unit: string, after: string];

export interface Parser {
  /** The exported functions that read the text, as `file name`. */
  readonly of: readonly string[];
  readonly parse: (text: string) => unknown;
  /** Its own worst inputs, besides those that every parser is given. */
  readonly shapes?: readonly Shape[];
  /** It looks at how many characters there are, and not at which. */
  readonly onlyOwnShapes?: true;
}

const token = 'wsa_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG';
const texts = createServiceText([token, 'aaaaaaaaaaab', 'baaaaaaaaaaa']);
const spellings = spellingsOf([token, 'aaaaaaaaaaab', 'baaaaaaaaaaa']);
const redactSecrets = createRedactor([token, 'aaaaaaaaaaab', 'baaaaaaaaaaa']);
const orThrow = <T>(parsed: Parsed<T>): T => {
  if (!parsed.ok) throw new Error(parsed.why);
  return parsed.value;
};

const clientAddress = createClientAddress([orThrow(parseCidr('127.0.0.0/8'))]);

/** What a parser reads of a request, and nothing else. */
const incoming = (headers: Readonly<Record<string, string>>) =>
  ({
    headers,
    headersDistinct: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    httpVersion: '1.1',
    socket: { remoteAddress: '127.0.0.1' },
  }) as unknown as IncomingMessage;

const answer = (status: number, value: Parameters<typeof wordsOf>[0], headers = {}) => ({
  status,
  headers,
  body: { kind: 'json' as const, value, byteLength: 0 },
});

/** A refusal is a result like another. */
const orRefusal = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch (error) {
    return error;
  }
};

const input = (name: string, operation: string) => (text: string) =>
  loadInputs(
    (wanted) =>
      ({
        operation,
        'base-url': 'https://assets.example/v1',
        token,
        workspace: 'game',
        path: 'a',
        ttl: '1h',
        glob: 'true',
        [name.toLowerCase()]: text,
      })[wanted] ?? '',
    {},
  );

const taskInputs: readonly (readonly [string, string])[] = [
  ['BASE-URL', 'lock'],
  ['TOKEN', 'lock'],
  ['WORKSPACE', 'lock'],
  ['PATH', 'lock'],
  ['TTL', 'lock'],
  ['LOCKS', 'unlock'],
  ['BRANCH', 'sync'],
  ['HOOK-URL', 'register-hook'],
  ['HOOK-EVENTS', 'register-hook'],
  ['HOOK-OPTIONS', 'register-hook'],
];

/** Every parser of text from outside. One that is written anew has its row here: see parsers.test.ts. */
export const parsers: readonly Parser[] = [
  {
    of: ['src/interface/lock-path.ts parseLockPath', 'src/interface/lock-path.ts parseHeldPath'],
    parse: parseLockPath,
  },
  { of: ['src/interface/lock-path.ts canonicalLockPath'], parse: canonicalLockPath },
  { of: ['src/interface/lock-path.ts lockPathFromUrl'], parse: lockPathFromUrl, shapes: [['', '%CD%85', '']] },
  { of: ['src/interface/duration.ts parseDuration'], parse: parseDuration },
  { of: ['src/interface/ttl.ts parseTtl'], parse: parseTtl },
  { of: ['src/interface/scopes.ts isScope'], parse: isScope },

  { of: ['src/client/json.ts parseJson'], parse: (text) => parseJson(text, texts.data), shapes: [['[', '"a",', '1]']] },
  {
    of: ['src/client/answer.ts readAnswer'],
    parse: (text) =>
      readAnswer(
        { status: 200, headers: {}, bytes: new TextEncoder().encode(text), tooLarge: false, endIsUnsure: false },
        texts,
      ),
    shapes: [
      ['[', '[],', '1]'],
      ['[', '"aaaaaaaaaaaa",', '1]'],
      ['<html>', '<script>', ''],
      ['<html>', '<!--', ''],
      ['<html>', '</script', ''],
    ],
  },
  {
    of: ['src/client/service-text.ts htmlToText'],
    parse: (text) => htmlToText(`<html>${text}`),
    shapes: [
      ['', '<script>', ''],
      ['', '<script><style><template><!--', ''],
      ['<script>', '</script ', ''],
      ['', '<script></style>', ''],
      ['', '<a ', '>'],
      ['', '&amp', ''],
    ],
  },
  {
    of: ['src/client/answer.ts parseLinks'],
    parse: parseLinks,
    shapes: [
      ['', '<a>;rel="', ''],
      ['<a>', ';rel', ''],
    ],
  },
  {
    of: ['src/interface/retry-after.ts parseRetryAfter'],
    parse: (text) => parseRetryAfter(text, 0),
    shapes: [['mon', '(', '']],
  },
  {
    of: ['src/client/rate-limit.ts rateLimitIn'],
    parse: (text) =>
      rateLimitIn(
        { ratelimit: text, 'ratelimit-policy': text, 'ratelimit-remaining': text, 'ratelimit-reset': text },
        0,
      ),
    shapes: [
      ['', '"a";r=1;', ''],
      ['', '"a",', ''],
      ['', '"', ''],
    ],
  },
  {
    of: ['src/service/api/prefer.ts preferredWait'],
    parse: preferredWait,
    shapes: [
      ['', '"\\', ''],
      ['', 'wait=1,', ''],
    ],
  },
  {
    of: ['src/client/clock.ts dateOf'],
    parse: (text) => dateOf({ date: text, age: text }),
    shapes: [['', '(', '']],
  },
  {
    of: ['src/client/clock.ts timestampIn'],
    parse: timestampIn,
    shapes: [
      ['2026-03-01T00:00:00.', '0', 'x'],
      ['mon', '(', ''],
    ],
  },
  {
    of: ['src/client/deprecation.ts deprecationIn'],
    parse: (text) => deprecationIn(answer(200, null, { deprecation: text, link: text }), texts),
  },
  {
    of: ['src/client/refusal.ts wordsOf', 'src/client/refusal.ts fieldsOf'],
    parse: (text) => [
      wordsOf({ error: text, message: text }, texts),
      fieldsOf({ errors: [{ field: text, detail: text }] }, texts),
    ],
  },
  {
    of: ['src/client/refusal.ts isOwnError'],
    parse: (text) => isOwnError(answer(404, { message: text })),
    shapes: [['page ', 'not ', '']],
  },
  {
    of: ['src/client/retry.ts isStillRunning'],
    parse: (text) => isStillRunning(answer(409, { title: text }), true),
  },
  {
    of: ['src/client/refusal.ts refusalOf'],
    parse: (text) =>
      refusalOf(answer(403, { detail: text }, { 'www-authenticate': `error="insufficient_scope", scope="${text}` }), {
        baseUrl: new URL('https://assets.example'),
        serverNow: 0,
        texts,
      }),
  },
  { of: ['src/client/sync.ts syncStateOf'], parse: (text) => syncStateOf(text, { conclusion: text }) },
  { of: ['src/client/service-text.ts plainName'], parse: plainName },
  {
    of: ['src/client/service-text.ts createServiceText'],
    parse: (text) => [texts.line(text, 200), texts.excerpt(text, 200), texts.data(text)],
  },
  {
    of: ['src/client/known-lock.ts readLock', 'src/client/known-lock.ts readListedLock'],
    parse: (text) => [
      readListedLock(text, texts),
      readLock(
        { path: text, id: text, etag: text, owner: text, origin: text, type: text, expires_at: text },
        'a',
        texts,
      ),
    ],
    shapes: [['"', 'a', '']],
  },
  {
    of: ['src/client/lists.ts readNamed', 'src/client/lists.ts readWorkspace', 'src/client/lists.ts readBranch'],
    parse: (text) => [readWorkspace(text), readBranch({ ref: text }), readNamed(['a'])({ a: text })],
  },
  { of: ['src/client/workspace-id.ts parseWorkspaceId'], parse: parseNamedWorkspace },

  {
    of: ['src/action/paths/pattern-cost.ts whyNotQuick'],
    parse: whyNotQuick,
    shapes: [
      ['', '{a}', ''],
      ['', '+(', ''],
    ],
  },
  { of: ['src/action/inputs/table.ts readRawInputs'], parse: (text) => readRawInputs(() => text, {}) },
  ...taskInputs.map(([name, operation]) => ({
    of: [
      'src/action/inputs/load.ts loadInputs',
      'src/action/inputs/load.ts readConnection',
      'src/action/inputs/parse.ts parseOneOf',
      'src/action/inputs/parse.ts parseText',
      'src/action/inputs/parse.ts parseToken',
      'src/action/inputs/parse.ts parseWorkspace',
      'src/action/inputs/parse.ts parseHookUrl',
      'src/action/inputs/parse.ts parsePathLine',
    ],
    parse: input(name, operation),
    shapes: [
      ['', 'a\n', ''] as const,
      ['', 'a,', ''] as const,
      ['https://a/', '/', 'x'] as const,
      ['[', '{"path":"a"},', '1]'] as const,
    ],
  })),
  {
    of: ['src/action/inputs/parse.ts parseBaseUrl'],
    parse: (text) => parseBaseUrl(`https://a/${text}`, false),
    shapes: [['', '/', 'v']],
  },
  { of: ['src/action/inputs/parse.ts parseBoolean'], parse: parseBoolean },
  { of: ['src/action/inputs/parse.ts parseLossReaction'], parse: parseLossReaction },
  { of: ['src/action/inputs/parse.ts parseWholeNumber'], parse: parseWholeNumber(9) },
  {
    of: ['src/action/inputs/parse.ts parseDurationBetween'],
    parse: parseDurationBetween({ seconds: 0 }, { seconds: 9 }),
  },
  { of: ['src/action/inputs/parse.ts parseJsonObject'], parse: parseJsonObject },
  {
    of: ['src/action/changed-files/change.ts parseChange'],
    parse: (text) => parseChange('push', { ref: text, before: text, after: text }),
  },
  { of: ['src/action/changed-files/listed-files.ts readFiles'], parse: (text) => readFiles([{ filename: text }]) },
  {
    of: ['src/action/ledger/entry.ts readEntry'],
    parse: readEntry,
    shapes: [['{"kind":"plan","service":"s","workspace":"w","step":"s","at":"a","paths":[', '"a",', '"a"]}']],
  },
  { of: ['src/action/ledger/saved-state.ts parseSavedState'], parse: parseSavedState },
  {
    of: ['src/action/inputs/parse.ts parseHandoff'],
    parse: parseHandoff,
    shapes: [['[', '{"path":"a"},', '{"path":"a"}]']],
  },
  {
    of: ['src/interface/redact.ts createRedactor'],
    parse: redactSecrets,
    shapes: [
      ['', 'wsa_', ''],
      ['', token, ''],
    ],
  },
  {
    of: ['src/action/report/redact.ts oneLine', 'src/action/report/redact.ts inHtml'],
    parse: (text) => [oneLine(text), inHtml(text)],
    shapes: [['', '##', '[']],
  },

  {
    of: ['src/service/dashboard/frame/form.ts parseForm'],
    parse: (text) => orRefusal(() => parseForm(text)),
    shapes: [
      ['', 'a&', ''],
      ['a=', '=', ''],
      ['', '%C3%A9', ''],
    ],
  },
  {
    of: ['src/service/dashboard/frame/session.ts sessionSecretIn'],
    parse: (text) => sessionSecretIn(incoming({ cookie: text })),
    shapes: [
      ['', 'a=b; ', ''],
      ['a="', '"', ''],
    ],
  },
  {
    of: ['src/service/dashboard/pages/sign-in.ts localPath'],
    parse: (text) => localPath(`/${text}`),
    shapes: [
      ['', 'a/../', ''],
      ['', '../', ''],
      ['', '%2e%2e/', ''],
    ],
  },
  {
    of: ['src/service/dashboard/pages/new-hook-form.ts readNewHook'],
    parse: (text) => readNewHook({ ...emptyHook, url: text, branches: text, secret: text, headers: text }),
    shapes: [
      ['', 'a: b\n', ''],
      ['', 'a\n', ''],
      ['a', ' ', 'b'],
    ],
  },
  {
    of: ['src/service/dashboard/pages/new-token-form.ts readNewToken'],
    parse: (text) =>
      readNewToken({
        ...emptyToken,
        name: text,
        scopes: [text],
        expires: 'other',
        lifetime: text,
        reach: 'some',
        workspaces: [text],
      }),
  },
  {
    of: [
      'src/service/dashboard/assets/lock-list.js parseListQuery',
      'src/service/dashboard/assets/lock-list.js parseSort',
    ],
    parse: (text) => {
      const query = parseListQuery(
        new URLSearchParams({ search: text, sort: text, group: text, path: text, page: text }),
      );
      return matching(sorted([], query), query);
    },
  },
  { of: ['src/service/git/branch-name.ts parseBranchName'], parse: parseBranchName },
  {
    of: ['src/service/git/remote.ts parseRemote'],
    parse: (text) => [
      parseRemote(text, { allowFile: true }),
      parseRemote(`https://a/${text}`, { allowFile: false }),
      parseRemote(`ssh://${text}`, { allowFile: false }),
    ],
  },
  {
    of: ['src/service/git/remote-branches.ts collectBranches'],
    parse: (text) => {
      const collected = collectBranches();
      for (const line of text.split('\n')) collected.add(line);
    },
    shapes: [
      ['', `${'a'.repeat(40)}\trefs/heads/a\n`, ''],
      ['', '\t', ''],
      ['', 'ref: refs/heads/a\tHEAD\n', ''],
    ],
  },
  {
    of: ['src/service/git/transfer.ts readProgress'],
    parse: readProgress,
    shapes: [
      ['Receiving objects:', ' ', ''],
      ['remote: Enumerating objects: ', '1', ''],
    ],
  },
  {
    of: ['src/service/git/git-output.ts intoLines'],
    parse: (text) => {
      const lines = intoLines(() => undefined);
      lines.push(text);
      lines.end();
    },
  },
  { of: ['src/service/git/git-output.ts wordsOfGit'], parse: (text) => wordsOfGit([text, `remote: A${text}`]) },
  {
    of: ['src/service/git/redact.ts createRemoteRedactor'],
    parse: (text) =>
      createRemoteRedactor({
        kind: 'https',
        address: 'https://a/b',
        credentials: { username: 'git', password: 'aaaaaaaab' },
      })(text),
    shapes: [
      ['', '//', ''],
      ['', '//a', ''],
      ['', 'authorization: ', ''],
      ['authorization:', ' ', ''],
    ],
  },
  {
    of: ['src/service/http/urlencoded.ts readQuery'],
    parse: (text) => orRefusal(() => readQuery(`/a?${text}`, ['a', 'b'])),
    shapes: [
      ['', 'c&', ''],
      ['a=', '=', ''],
      ['', '?', ''],
    ],
  },
  { of: ['src/service/api/lock-list.ts readCursor'], parse: readCursor },
  {
    of: ['src/service/contract/validate.ts parseRequestPart'],
    parse: (text) =>
      orRefusal(() => parseRequestPart(lockRequestSchema, () => ({ path: text, type: text, ttl: text }))),
  },
  {
    of: ['src/service/contract/validate.ts parseRequestPart'],
    parse: (text) =>
      orRefusal(() =>
        parseRequestPart(hookRequestSchema, () => ({
          url: text,
          events: [text],
          branches: [text],
          secret: text,
          headers: { [text]: text },
        })),
      ),
  },
  {
    of: ['src/service/contract/validate.ts parseRequestPart'],
    parse: (text) =>
      orRefusal(() =>
        parseRequestPart(hookRequestSchema, () => ({
          url: 'https://a',
          branches: text.split(''),
          headers: { ...text.split('') },
        })),
      ),
    shapes: [['', 'a', '']],
    onlyOwnShapes: true,
  },
  { of: ['src/service/contract/schemas.ts plainText'], parse: (text) => plainText.safeParse(text) },
  {
    of: ['src/service/http/request-target.ts hasValidHost'],
    parse: (text) => hasValidHost(incoming({ host: text })),
    shapes: [
      ['[', 'a:', ''],
      ['', '%4', ''],
    ],
  },
  { of: ['src/service/api/origin.ts originOf'], parse: originOf },
  {
    of: ['src/service/http/request-target.ts originForm', 'src/service/http/request-target.ts routingPath'],
    parse: (text) => [routingPath(originForm(text)), routingPath(`/v1/workspaces/a/locks/${text}`)],
  },
  {
    of: ['src/service/http/client-address.ts createClientAddress'],
    parse: (text) => clientAddress(incoming({ 'x-forwarded-for': text })),
    shapes: [
      ['', '127.0.0.1,', ''],
      ['', '127.0.0.1,', ' '],
      ['[', 'a', ''],
    ],
  },
  {
    of: ['src/service/idempotency/keyed-request.ts keyedRequest'],
    parse: (key) =>
      orRefusal(() => keyedRequest({ tokenId: 't', key, method: 'POST', path: '/', ifMatch: undefined, body: '' })),
  },
  {
    of: ['src/service/locks/id-match.ts parseIfMatch'],
    parse: (text) => parseIfMatch(text)('a'),
    shapes: [
      ['', '"a",', ''],
      ['', ', ', ''],
      ['', ' ', '"'],
      ['', '""', ''],
      ['"', 'a', ''],
      ['', 'W/', ''],
    ],
  },
  { of: ['src/service/tokens/audit-actor.ts parseAuditActor'], parse: parseAuditActor },
  { of: ['src/service/dashboard/assets/text.js safeText'], parse: safeText },
  { of: ['src/service/sessions/secret.ts unsealed'], parse: (text) => unsealed(text, 'secret') },
  { of: ['src/service/tokens/new-token.ts parseLifetime'], parse: parseLifetime },
  {
    of: ['src/service/tokens/secret.ts looksLikeTokenSecret'],
    parse: looksLikeTokenSecret,
    shapes: [['wsa_', 'a', '']],
  },
  { of: ['src/service/tokens/new-token.ts parseTokenName'], parse: parseTokenName },
  { of: ['src/service/platform/ip-address.ts parseCidr'], parse: parseCidr },
  {
    of: ['src/service/webhooks/extra-headers.ts parseExtraHeaders'],
    parse: (text) => parseExtraHeaders({ [text]: 'a', b: text }),
  },
  { of: ['src/service/platform/ip-address.ts parseIpAddress'], parse: parseIpAddress },
  {
    of: ['src/service/webhooks/receiver-answer.ts wholeAnswer'],
    parse: (text) =>
      wholeAnswer({ status: 500, headers: { location: text, server: text }, body: Buffer.from(text), isCut: true }, [
        token,
      ]),
    shapes: [['', '?', '']],
  },
  {
    of: ['src/service/webhooks/delivery-request.ts requestSecrets'],
    parse: (text) =>
      requestSecrets({
        url: `https://a/?${encodeURIComponent(text.toWellFormed())}`,
        secret: newSecret(),
        headers: orThrow(parseExtraHeaders({ authorization: 'Basic YWRhOnNlY3JldA==' })),
        signature: text,
      }),
  },
  {
    of: ['src/service/webhooks/retry-schedule.ts retryAfterSeconds'],
    parse: (text) => retryAfterSeconds(text, new Date(0)),
  },
  {
    of: ['src/service/webhooks/signature.ts parseSecret'],
    parse: (text) => [parseSecret(text), parseSecret(`whsec_${text}`)],
  },
  {
    of: ['src/service/webhooks/target.ts parseTarget'],
    parse: (text) => [parseTarget(text), parseTarget(`https://${text}`)],
  },
  {
    of: ['src/interface/redact.ts redactCut'],
    parse: (text) => redactCut(text, spellings),
    shapes: [
      ['', '\ufffd', 'x'],
      ['', 'wsa_', ''],
    ],
  },
  {
    of: ['src/interface/redact.ts redactCut'],
    // Secrets that grow with what is sent: those of headers have up to 4,096 characters.
    parse: (text) => redactCut('a'.repeat(text.length), spellingsOf([`${text.slice(0, 4_000)}b${text.slice(0, 90)}`])),
  },
  { of: ['src/service/workspaces/workspace-id.ts parseWorkspaceId'], parse: parseWorkspaceId },
];

/** Exported functions named parse… or read… that have no row, and why they need none. */
export const withoutRow: Readonly<Record<string, string>> = {
  'src/client/pages.ts readPages':
    'It asks for pages; what is read of each has its rows, and their number and size are limited.',
  'src/action/post-step/claims.ts readClaims': 'It puts entries of the ledger together that readEntry has read.',
  'src/action/context.ts readRunner': 'It picks variables of the environment.',
  'src/service/audit/read-audit.ts readAudit': 'It reads the database.',
  'src/action/ledger/history.ts readJobLocks': 'It puts entries of the ledger together that readEntry has read.',
  'src/service/http/body.ts readText': 'It reads a stream up to its limit, and decodes it once.',
  'src/service/http/body.ts readJsonBody':
    'It is readText and JSON.parse; what the JSON says goes to parseRequestPart.',
  'src/service/dashboard/frame/form.ts readForm': 'It is readText up to 64 KB and parseForm.',
  'src/service/dashboard/frame/form.ts readOwnForm': 'It is readForm behind the checks of headers.',
  'src/service/webhooks/formats.ts parseSubscription': 'It takes values that a schema has read.',
};

/** What the operator writes on the own command line keeps nobody else waiting. */
export const foldersWithoutRows = ['src/service/cli/'];
