import type { IncomingMessage } from 'node:http';
import { parseChange } from '../../src/action/changed-files/change.ts';
import { readFiles } from '../../src/action/changed-files/listed-files.ts';
import { loadInputs } from '../../src/action/inputs/load.ts';
import { parseBoolean, parseHandoff, parseJsonObject, parseWholeNumber } from '../../src/action/inputs/parse.ts';
import { parsePathLine } from '../../src/action/inputs/path-line.ts';
import { operations, readRawInputs } from '../../src/action/inputs/table.ts';
import { parseRenewalTask } from '../../src/action/renewal/task.ts';
import { inHtml, oneLine } from '../../src/action/report/escape.ts';
import { parseSavedState } from '../../src/action/step/saved-state.ts';
import { parseBaseUrl, parseWorkspaceId as parseNamedWorkspace, parseToken } from '../../src/client/access.ts';
import { dateOf, timestampIn } from '../../src/client/clock.ts';
import { parseJson } from '../../src/client/json.ts';
import { readListedLock, readLock } from '../../src/client/known-lock.ts';
import { readNamed } from '../../src/client/lists.ts';
import { readOutdated } from '../../src/client/outdated.ts';
import { rateLimitIn } from '../../src/client/rate-limit.ts';
import { fieldsOf, messageOf, refusalOf } from '../../src/client/refusal.ts';
import { deprecationIn, parseLinks, parseResponse } from '../../src/client/response.ts';
import { isStillRunning } from '../../src/client/retry.ts';
import { createSanitizer, htmlToText, plainName } from '../../src/client/sanitizer.ts';
import { readSync } from '../../src/client/sync.ts';
import { closestNames } from '../../src/interface/closest-name.ts';
import { parseDuration, parseDurationBetween, parsePositiveDuration } from '../../src/interface/duration.ts';
import { parseNote } from '../../src/interface/lock-note.ts';
import { canonicalLockPath, lockPathFromUrl, parseLockPath } from '../../src/interface/lock-path.ts';
import { oneOf } from '../../src/interface/one-of.ts';
import { createRedactor } from '../../src/interface/redact.ts';
import { parseRetryAfter } from '../../src/interface/retry-after.ts';
import { isScope } from '../../src/interface/scopes.ts';
import { parseTtl } from '../../src/interface/ttl.ts';
import { readEntry } from '../../src/locks/ledger/entry.ts';
import { preferredWait, urgencyOf } from '../../src/service/api/prefer.ts';
import { parseDay, parseEndOfDay } from '../../src/service/audit/day.ts';
import { parseHeader, parseLine } from '../../src/service/backup/format.ts';
import { lockRequestSchema, plainText } from '../../src/service/contract/request-fields.ts';
import { parseRequestPart } from '../../src/service/contract/validate.ts';
import { pageQueryOf, parseListQuery } from '../../src/service/dashboard/elements/lock-list.ts';
import { filledIn, parseForm } from '../../src/service/dashboard/frame/form.ts';
import { readNewLock } from '../../src/service/dashboard/pages/new-lock.ts';
import { readNewToken } from '../../src/service/dashboard/pages/new-token.ts';
import { localPath } from '../../src/service/dashboard/pages/sign-in.ts';
import { parseBranchName } from '../../src/service/git/branch-name.ts';
import { splitLines, summarizeErrors } from '../../src/service/git/git-output.ts';
import { readLfsProgress } from '../../src/service/git/lfs-fetch.ts';
import { createRemoteRedactor } from '../../src/service/git/redact.ts';
import { parseRemote } from '../../src/service/git/remote.ts';
import { collectBranches } from '../../src/service/git/remote-branches.ts';
import { readProgress } from '../../src/service/git/transfer.ts';
import { parseUploadPackRequest } from '../../src/service/git/upload-pack-request.ts';
import { basicPasswordIn, bearerTokenIn } from '../../src/service/http/access.ts';
import { parseByteRange } from '../../src/service/http/byte-range.ts';
import { createClientAddress } from '../../src/service/http/client-address.ts';
import { refererOrigin } from '../../src/service/http/origin.ts';
import { hasValidHost, originForm, routingPath } from '../../src/service/http/request-target.ts';
import { readQuery } from '../../src/service/http/urlencoded.ts';
import { keyedRequest } from '../../src/service/idempotency/keyed-request.ts';
import { parseOid } from '../../src/service/lfs/oid.ts';
import { parsePointer } from '../../src/service/lfs/pointer.ts';
import {
  acquireSchema,
  batchSchema,
  looksLikeLockId,
  querySchema,
  verifySchema,
} from '../../src/service/lfs/requests.ts';
import { readCursor } from '../../src/service/locks/cursor.ts';
import { parseIfMatch } from '../../src/service/locks/id-match.ts';
import { protocolOf } from '../../src/service/mirror/read-request.ts';
import { parseTarget } from '../../src/service/outbound/target.ts';
import { parseCidr, parseIpAddress } from '../../src/service/platform/ip-address.ts';
import { safeText } from '../../src/service/platform/safe-text.ts';
import { parsePoolItems, parsePoolItemWords } from '../../src/service/pools/pool-item.ts';
import { unsealed } from '../../src/service/sessions/sealed.ts';
import { sessionSecretIn } from '../../src/service/sessions/session-cookie.ts';
import { parsePushEvent } from '../../src/service/syncs/push-event.ts';
import { parseAuditActor } from '../../src/service/tokens/audit-actor.ts';
import { parseTokenName, parseTokenOwner } from '../../src/service/tokens/new-token.ts';
import { looksLikeTokenSecret } from '../../src/service/tokens/secret.ts';
import { parseIssuer, parseRuleOwner, readRule } from '../../src/service/trust/new-rule.ts';
import { parseClaim } from '../../src/service/trust/rule-claim.ts';
import { parseExtraHeaders } from '../../src/service/webhooks/extra-headers.ts';
import { hookRequestSchema } from '../../src/service/webhooks/registration.ts';
import { retryAfterSeconds } from '../../src/service/webhooks/retry-schedule.ts';
import { parseSecret } from '../../src/service/webhooks/signature.ts';
import { parseBranchPatterns, parseLatestMode, parsePushLockMode } from '../../src/service/workspaces/latest.ts';
import { lfsEndpoint, parseLfsMode, parseLfsUrl } from '../../src/service/workspaces/lfs-settings.ts';
import { parsePoolName, parseWorkspaceId } from '../../src/service/workspaces/workspace-id.ts';
import { valueIn } from '../support/value-in.ts';

/** A growing text: its beginning, its repeated unit, and its end. */
export type Shape = readonly [before: string, unit: string, after: string];

export interface Parser {
  /** The exported functions that read the text, as `file name`. */
  readonly of: readonly string[];
  readonly parse: (text: string) => unknown;
  /** Its own worst inputs, in addition to those of every parser. */
  readonly shapes: readonly Shape[];
}

/** Functions of a file, such as `client/refusal.ts messageOf fieldsOf`, and their worst inputs; a string is repeated. */
function row(of: string, parse: Parser['parse'], ...shapes: readonly (string | Shape)[]): Parser {
  return {
    of: of.split(', ').flatMap((group) => {
      const [file, ...names] = group.split(' ');
      return names.map((name) => `src/${file} ${name}`);
    }),
    parse,
    shapes: shapes.map((shape) => (typeof shape === 'string' ? ['', shape, ''] : shape)),
  };
}

const token = 'wsa_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG';
const secrets = [token, 'aaaaaaaaaaab', 'baaaaaaaaaaa'];
const sanitizer = createSanitizer(secrets);
const redactSecrets = createRedactor(secrets);

const after = 'a'.repeat(40);

const clientAddress = createClientAddress([valueIn(parseCidr('127.0.0.0/8'))]);

/** The only parts of a request that a parser reads. */
const incoming = (headers: Readonly<Record<string, string>>) =>
  ({
    headers,
    headersDistinct: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    httpVersion: '1.1',
    socket: { remoteAddress: '127.0.0.1' },
  }) as unknown as IncomingMessage;

const response = (status: number, value: Parameters<typeof messageOf>[0], headers = {}) => ({
  status,
  headers,
  body: { kind: 'json' as const, value, byteLength: 0 },
  sanitizer,
});

/** A refusal is a valid result, too. */
const orRefusal =
  (parse: (text: string) => unknown) =>
  (text: string): unknown => {
    try {
      return parse(text);
    } catch (error) {
      return error;
    }
  };

/** Inputs that every operation reads in the same way: testing them with one operation is enough. */
const inputsOfAll = ['base-url', 'token', 'workspace'];

/** Each of these functions reads an input of some operation. */
const parsersOfInputs = 'parseText parseAudience parseWorkspace parseHookUrl parsePathCount parseOnLost parseUrgency';

/** Every parser of external text. A new one needs its row here: see parsers.test.ts. */
export const parsers: readonly Parser[] = [
  row('interface/lock-path.ts parseLockPath parseHeldPath', parseLockPath),
  row('interface/lock-path.ts canonicalLockPath', canonicalLockPath),
  row('interface/lock-path.ts lockPathFromUrl', lockPathFromUrl, '%CD%85'),
  row('interface/duration.ts parseDuration', parseDuration),
  row('interface/one-of.ts oneOf', (text) => oneOf([`${text}ab`, `ab${text}`])(text)),
  row('interface/ttl.ts parseTtl', parseTtl),
  row('interface/scopes.ts isScope', isScope),
  row('interface/retry-after.ts parseRetryAfter', (text) => parseRetryAfter(text, 0), ['mon', '(', '']),
  row('interface/redact.ts createRedactor', redactSecrets, 'wsa_', token),

  row('client/json.ts parseJson', (text) => parseJson(text, sanitizer.data), ['[', '"a",', '1]']),
  row(
    'client/response.ts parseResponse',
    (text) =>
      parseResponse(
        { status: 200, headers: {}, bytes: new TextEncoder().encode(text), tooLarge: false, mayBeTruncated: false },
        sanitizer,
      ),
    ['[', '[],', '1]'],
    ['[', '"aaaaaaaaaaaa",', '1]'],
    ['<html>', '<body', ''],
  ),
  row('client/sanitizer.ts htmlToText', (text) => htmlToText(`<html>${text}`), '<body', ['', '<a ', '>']),
  row('client/response.ts parseLinks', parseLinks, '<a>;rel="', ['<a>', ';rel', '']),
  row(
    'client/rate-limit.ts rateLimitIn',
    (text) =>
      rateLimitIn(
        { ratelimit: text, 'ratelimit-policy': text, 'ratelimit-remaining': text, 'ratelimit-reset': text },
        0,
      ),
    ...['"a";r=1;', '"a",', '"'],
  ),
  row('client/clock.ts dateOf', (text) => dateOf({ date: text, age: text }), '('),
  row('client/clock.ts timestampIn', timestampIn, ['2026-03-01T00:00:00.', '0', 'x'], ['mon', '(', '']),
  row('client/response.ts deprecationIn', (text) =>
    deprecationIn(response(200, null, { deprecation: text, link: text })),
  ),
  row('client/refusal.ts messageOf fieldsOf', (text) => [
    messageOf({ error: text, message: text }, sanitizer),
    fieldsOf({ errors: [{ field: text, detail: text }] }, sanitizer),
  ]),
  row('client/retry.ts isStillRunning', (text) => isStillRunning(response(409, { title: text }), true)),
  row('client/refusal.ts refusalOf', (text) =>
    refusalOf(response(403, { detail: text }, { 'www-authenticate': `error="insufficient_scope", scope="${text}` }), {
      baseUrl: new URL('https://assets.example'),
      serverNow: 0,
    }),
  ),
  row('client/sync.ts readSync', (text) =>
    readSync({ status: text, conclusion: text, head: text, error: text }, sanitizer),
  ),
  row('client/sanitizer.ts plainName', plainName),
  row('client/sanitizer.ts createSanitizer', (text) => [
    sanitizer.line(text, 200),
    sanitizer.excerpt(text, 200),
    sanitizer.data(text),
  ]),
  row(
    'client/known-lock.ts readLock readListedLock',
    (text) => [
      readListedLock(text, sanitizer),
      readLock(
        { path: text, id: text, etag: text, owner: text, origin: text, type: text, expires_at: text },
        'a',
        sanitizer,
      ),
    ],
    ['"', 'a', ''],
  ),
  row('client/outdated.ts readOutdated', (text) =>
    readOutdated({ path: text, branch: text, commit: text, author: text, at: text, behind: text }, sanitizer),
  ),
  row('client/lists.ts readNamed', (text) => [readNamed([])(text), readNamed(['a'])({ a: text })]),
  row('client/access.ts parseWorkspaceId', parseNamedWorkspace),

  row('action/inputs/table.ts readRawInputs', (text) => readRawInputs(() => text, {})),
  row(
    `action/inputs/load.ts loadInputs, action/inputs/connection.ts readConnection, action/inputs/read-task.ts readTask, action/inputs/parse.ts ${parsersOfInputs}`,
    (text) =>
      operations.map((operation, index) => {
        const inputs = (name: string) => (index > 0 && inputsOfAll.includes(name) ? '' : text);
        const getInput = (name: string) => (name === 'operation' ? operation : inputs(name));
        return loadInputs(readRawInputs(getInput, {}), getInput, {});
      }),
    ...['a\n', 'a,'],
    ['https://a/', '/', 'x'],
    ['[', '{"path":"a"},', '1]'],
  ),
  row('client/access.ts parseBaseUrl', (text) => parseBaseUrl(`https://a/${text}`, false, ''), ['', '/', 'v']),
  row('client/access.ts parseToken', parseToken('')),
  row(
    'action/inputs/path-line.ts parsePathLine',
    (text) => [`- ${text}`, `"${text}`, `\${${text}`, text].map((line) => parsePathLine(line, true)),
    ['"', '",', 'x'],
    ['a', '/', 'x'],
  ),
  row('interface/closest-name.ts closestNames', (text) => closestNames(text, [`${text}ab`, `ab${text}`, `a${text}b`])),
  row('action/inputs/parse.ts parseBoolean', parseBoolean),
  row('action/inputs/parse.ts parseWholeNumber', parseWholeNumber(9)),
  row('interface/duration.ts parseDurationBetween', parseDurationBetween({ seconds: 0 }, { seconds: 9 })),
  row('interface/duration.ts parsePositiveDuration', parsePositiveDuration),
  row('action/inputs/parse.ts parseJsonObject', parseJsonObject),
  row('action/inputs/parse.ts parseHandoff', parseHandoff, ['[', '{"path":"a"},', '{"path":"a"}]']),
  row('action/changed-files/change.ts parseChange', (text) =>
    parseChange('push', { ref: text, before: text, after: text }),
  ),
  row('action/changed-files/listed-files.ts readFiles', (text) => readFiles([{ filename: text }])),
  row('locks/ledger/entry.ts readEntry', readEntry, [
    '{"kind":"plan","service":"s","workspace":"w","step":"s","at":"a","paths":[',
    '"a",',
    '"a"]}',
  ]),
  row('action/step/saved-state.ts parseSavedState', parseSavedState),
  row('action/renewal/task.ts parseRenewalTask', parseRenewalTask),
  row('action/report/escape.ts oneLine inHtml', (text) => [oneLine(text), inHtml(text)], ['', '##', '[']),

  row(
    'service/api/prefer.ts preferredWait urgencyOf',
    (text) => [preferredWait(text, 30), urgencyOf(text)],
    '"\\',
    'wait=1,',
    'u=1,',
  ),
  row('service/dashboard/frame/form.ts parseForm', orRefusal(parseForm), 'a&', ['a=', '=', ''], '%C3%A9'),
  row(
    'service/sessions/session-cookie.ts sessionSecretIn',
    (text) => sessionSecretIn(incoming({ cookie: text })),
    'a=b; ',
    ['a="', '"', ''],
  ),
  row('service/dashboard/pages/sign-in.ts localPath', (text) => localPath(`/${text}`), ...['a/../', '../', '%2e%2e/']),
  row('service/dashboard/pages/new-lock.ts readNewLock', (text) =>
    readNewLock(filledIn({ path: text, duration: text, note: text })),
  ),
  row('service/dashboard/pages/new-token.ts readNewToken', (text) => {
    const given = { name: text, scope: text, lifetime: text, workspace: text };
    return readNewToken(filledIn({ ...given, expires: 'other', reach: 'some' }));
  }),
  row('service/dashboard/pages/permissions.ts readScopes readWorkspaces', (text) => {
    const given = { name: 'ada', scope: text, workspace: text };
    return readNewToken(filledIn({ ...given, lifetime: 'never', reach: 'some' }));
  }),
  row('service/dashboard/elements/lock-list.ts parseListQuery', (text) => {
    const given = { search: text, sort: 'left', path: text, after: `1 ${text}` };
    const query = parseListQuery(new URLSearchParams(given));
    return pageQueryOf('game', query);
  }),
  row('service/platform/safe-text.ts safeText', safeText),
  row('service/git/branch-name.ts parseBranchName', parseBranchName),
  row(
    'service/syncs/push-event.ts parsePushEvent, service/contract/validate.ts parseJson',
    (text) =>
      [text, JSON.stringify({ ref: `refs/heads/${text}`, after: text }), JSON.stringify({ ref: text, after })].map(
        (body) => parsePushEvent('github', { headers: { 'x-github-event': 'push' }, head: Buffer.from(body) }),
      ),
    ['{"a":', '[', ''],
    ['{', '"ref":"refs/heads/a",', '"after":""}'],
  ),
  row('service/git/remote.ts parseRemote', (text) => [
    parseRemote(text, { allowFile: true }),
    parseRemote(`https://a/${text}`, { allowFile: false }),
    parseRemote(`ssh://${text}`, { allowFile: false }),
  ]),
  row(
    'service/git/remote-branches.ts collectBranches',
    (text) => {
      const collected = collectBranches();
      for (const line of text.split('\n')) collected.add(line);
    },
    ...[`${'a'.repeat(40)}\trefs/heads/a\n`, '\t', 'ref: refs/heads/a\tHEAD\n'],
  ),
  row('service/git/transfer.ts readProgress', readProgress, ['Receiving objects:', ' ', '']),
  row(
    'service/backup/format.ts parseLine',
    orRefusal((text) => [parseLine(JSON.stringify([text])), parseLine(text)]),
    ...['["a",', '{"rows":{"a":1'],
  ),
  row('service/backup/format.ts parseHeader', orRefusal(parseHeader), '{"format":"'),
  row('service/git/git-output.ts splitLines', (text) => {
    const lines = splitLines(() => undefined);
    lines.push(text);
    lines.end();
  }),
  row(
    'service/git/upload-pack-request.ts parseUploadPackRequest',
    (text) => [...parseUploadPackRequest(Buffer.from(text))],
    ...['0000', '0005x', `0031want ${'a'.repeat(40)}`],
  ),
  row(
    'service/mirror/read-request.ts protocolOf',
    (text) => protocolOf(incoming({ 'git-protocol': text })),
    ...[':', 'version=', ':version=2x'],
  ),
  row('service/git/git-output.ts summarizeErrors', (text) => summarizeErrors([text, `remote: A${text}`])),
  row(
    'service/git/redact.ts createRemoteRedactor',
    (text) => {
      const credentials = { username: 'git', password: 'aaaaaaaab' };
      return createRemoteRedactor({ kind: 'https', address: 'https://a/b', credentials })(text);
    },
    ...['//', '//a', 'authorization: '],
    ['authorization:', ' ', ''],
  ),
  row(
    'service/http/urlencoded.ts readQuery readParameters',
    orRefusal((text) => readQuery(`/a?${text}`, ['a', 'b'])),
    'c&',
    ['a=', '=', ''],
    '?',
  ),
  row('service/locks/cursor.ts readCursor', readCursor),
  row(
    'service/http/access.ts bearerTokenIn basicPasswordIn',
    (text) => [
      bearerTokenIn(text),
      basicPasswordIn(text),
      basicPasswordIn(`Basic ${btoa(encodeURIComponent(text.toWellFormed()))}`),
    ],
    ['Basic ', ' ', 'x'],
  ),
  row(
    'service/git/lfs-fetch.ts readLfsProgress',
    readLfsProgress,
    ['Downloading LFS objects:', ' ', ''],
    ['Downloading LFS objects: 1% (1/1), ', '1', ' B |'],
  ),
  row('service/lfs/oid.ts parseOid', (text) => [parseOid(text)]),
  row(
    'service/lfs/pointer.ts parsePointer',
    (text) => [parsePointer(text), parsePointer(`version https://git-lfs.github.com/spec/v1\n${text}`)],
    ['ext-0-', 'a', ' '],
  ),
  row('service/workspaces/lfs-settings.ts parseLfsMode', parseLfsMode),
  row(
    'service/workspaces/latest.ts parseLatestMode parsePushLockMode parseBranchPatterns',
    (text) => [parseLatestMode(text), parsePushLockMode(text), parseBranchPatterns(text)],
    ['', 'a,', 'b'],
    ['*', 'a', ''],
    ['', '*/', ''],
  ),
  row('service/http/byte-range.ts parseByteRange', (text) => [parseByteRange(text, 10)], ['bytes=', '0', '-']),
  row('service/lfs/requests.ts querySchema acquireSchema verifySchema batchSchema looksLikeLockId', (text) => [
    querySchema.safeParse({ path: text, id: text, cursor: text, limit: text }),
    acquireSchema.safeParse({ path: text }),
    verifySchema.safeParse({ cursor: text }),
    batchSchema.safeParse({ operation: 'download', objects: [{ oid: text, size: 1 }] }),
    looksLikeLockId(text),
  ]),
  row(
    'service/workspaces/lfs-settings.ts parseLfsUrl lfsEndpoint',
    (text) => [
      parseLfsUrl(text),
      parseLfsUrl(`https://a/${text}`),
      lfsEndpoint({ id: 'a', remote: `https://a/${text}`, lfs_url: null }),
    ],
    ['/', '/', 'x'],
  ),
  row(
    'service/contract/validate.ts parseRequestPart',
    orRefusal((text) => parseRequestPart(lockRequestSchema, () => ({ path: text, type: text, ttl: text }))),
  ),
  row(
    'service/contract/validate.ts parseRequestPart',
    orRefusal((text) => {
      const lists = { events: [text], branches: [text], headers: { [text]: text } };
      return parseRequestPart(hookRequestSchema, () => ({ url: text, secret: text, ...lists }));
    }),
  ),
  row('service/contract/request-fields.ts plainText', (text) => plainText.safeParse(text)),
  row(
    'service/http/request-target.ts hasValidHost',
    (text) => hasValidHost(incoming({ host: text })),
    ['[', 'a:', ''],
    '%4',
  ),
  row('service/http/origin.ts refererOrigin', refererOrigin),
  row('service/http/request-target.ts originForm routingPath', (text) => [
    routingPath(originForm(text)),
    routingPath(`/v1/workspaces/a/locks/${text}`),
    routingPath(`/v1/workspaces/${text}`),
    routingPath(`/workspaces/a/paths/${text}`),
  ]),
  row(
    'service/http/client-address.ts createClientAddress',
    (text) => clientAddress(incoming({ 'x-forwarded-for': text })),
    '127.0.0.1,',
    ['', '127.0.0.1,', ' '],
    ['[', 'a', ''],
  ),
  row(
    'service/idempotency/keyed-request.ts keyedRequest',
    orRefusal((key) => keyedRequest('t', key, ['POST', '/', null, ''])),
  ),
  row(
    'service/locks/id-match.ts parseIfMatch',
    (text) => parseIfMatch(text)('a'),
    ...['"a",', ', ', '""', 'W/'],
    ['', ' ', '"'],
    ['"', 'a', ''],
  ),
  row('interface/lock-note.ts parseNote', parseNote),
  row('service/tokens/audit-actor.ts parseAuditActor', parseAuditActor),
  row('service/audit/day.ts parseDay', parseDay),
  row('service/audit/day.ts parseEndOfDay', parseEndOfDay),
  row('service/sessions/sealed.ts unsealed', (text) => unsealed(text, 'secret')),
  row('service/tokens/new-token.ts parseTokenName', parseTokenName),
  row('service/tokens/new-token.ts parseTokenOwner', parseTokenOwner),
  row(
    'service/trust/new-rule.ts parseIssuer parseRuleOwner, service/trust/rule-claim.ts parseClaim',
    (text) => [parseIssuer(text), parseRuleOwner(text), parseClaim(text)],
    ['a', '.', '='],
    ['https://a/', '../', ''],
  ),
  row('service/trust/new-rule.ts readRule', (text) =>
    readRule({
      issuer: 'https://gitlab.com',
      owner: text,
      claims: Array.from(text, (name) => [name, 'a'] as const),
      scopes: ['sync'],
      workspaces: [],
    }),
  ),
  row('service/tokens/secret.ts looksLikeTokenSecret', looksLikeTokenSecret, ['wsa_', 'a', '']),
  row('service/platform/ip-address.ts parseCidr', parseCidr),
  row('service/platform/ip-address.ts parseIpAddress', parseIpAddress),
  row('service/webhooks/extra-headers.ts parseExtraHeaders', (text) => parseExtraHeaders({ [text]: 'a', b: text })),
  row('service/webhooks/retry-schedule.ts retryAfterSeconds', (text) => retryAfterSeconds(text, new Date(0))),
  row('service/webhooks/signature.ts parseSecret', (text) => [parseSecret(text), parseSecret(`whsec_${text}`)]),
  row('service/outbound/target.ts parseTarget', (text) => [parseTarget(text), parseTarget(`https://${text}`)]),
  row('service/workspaces/workspace-id.ts parseWorkspaceId', parseWorkspaceId),
  row('service/workspaces/workspace-id.ts parsePoolName', parsePoolName),
  row('service/pools/pool-item.ts parsePoolItems, service/pools/pool-item.ts parsePoolItemWords', (text) => [
    parsePoolItems(text),
    parsePoolItems(JSON.stringify([{ path: text, properties: { [text]: text }, secret: [text] }])),
    parsePoolItemWords([text]),
    parsePoolItemWords(['a', text]),
    parsePoolItemWords(['a', `x=${text}`]),
  ]),
];

/** It looks at the number of characters, not at the characters themselves. */
export const ofAnyText = row(
  'service/contract/validate.ts parseRequestPart',
  orRefusal((text) =>
    parseRequestPart(hookRequestSchema, () => ({
      url: 'https://a',
      branches: text.split(''),
      headers: { ...text.split('') },
    })),
  ),
  'a',
);

/** Exported functions named parse… or read… that have no row, each with the reason. */
export const withoutRow: Readonly<Record<string, string>> = {
  'src/client/queue.ts parsePriority': 'It is oneOf, which has its row.',
  'src/client/pages.ts readPages':
    'It asks for pages; what is read of each has its rows, and their number and size are limited.',
  'src/action/inputs/parse.ts parseHandoffFile': 'It passes the text of a file to parseHandoff.',
  'src/action/post-step/candidates.ts readCandidates':
    'It puts entries of the ledger together that readEntry has read.',
  'src/action/step/runner.ts readRunner': 'It picks variables of the environment.',
  'src/service/audit/read-audit.ts readAudit': 'It reads the database.',
  'src/service/locks/read-history.ts readLockHistory': 'It reads the database.',
  'src/locks/ledger/history.ts readLockWorkspaces': 'It puts entries of the ledger together that readEntry has read.',
  'src/locks/ledger/history.ts readJobLocks': 'It puts entries of the ledger together that readEntry has read.',
  'src/service/mirror/read-request.ts readUploadPackRequest': 'It is readBytes, gunzip and parseUploadPackRequest.',
  'src/service/http/body.ts readBytes': 'It is readLimited.',
  'src/service/platform/read-limited.ts readLimited': 'It reads a stream up to its limit.',
  'src/service/git/small-blobs.ts readSmallBlobs': 'It reads what git writes, object by object.',
  'src/service/http/body.ts readText': 'It reads a stream up to its limit, and decodes it once.',
  'src/service/http/body.ts readOptionalJsonBody': 'It is readJsonBody where there is a body.',
  'src/service/http/body.ts readJsonBody':
    'It is readText and JSON.parse; what the JSON says goes to parseRequestPart.',
  'src/service/dashboard/frame/form.ts readForm': 'It is readText up to 64 KB and parseForm.',
  'src/service/backup/snapshot.ts readSnapshot': 'It reads the database.',
  'src/service/backup/read.ts readBackup': 'It reads a stream line by line, up to a limit for each, with parseLine.',
};

/** The operator's own command line delays no one else. */
export const foldersWithoutRows = ['src/service/cli/'];
