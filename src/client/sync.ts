import type { WorkspaceId } from './access.ts';
import { firstName, type Json, type JsonObject, nameIn } from './json.ts';
import { expectResource, rawMessageOf, retryAfterIn } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess, resolveLink, type Succeeded } from './request.ts';
import { headerOf, objectIn } from './response.ts';
import { plainName, type Sanitizer } from './sanitizer.ts';

export type SyncReport = Readonly<ReturnType<typeof readReport>>;

export interface StartedSync extends SyncReport {
  /** The target of status requests; undefined if the service names none, or one on another server. */
  readonly statusTarget: string | undefined;
}

export function createSync({ call, endpoints }: ClientContext) {
  function statusTargetIn({ response }: Succeeded, from: string): string | undefined {
    const links = [headerOf(response, 'location'), nameIn(objectIn(response)['status_url'])];
    return links
      .map((link) => (link === undefined ? link : resolveLink(link, from, response.baseUrl)?.target))
      .find((target) => target !== undefined);
  }

  return {
    async startSync(
      { workspace, branch }: { readonly workspace: WorkspaceId; readonly branch: string },
      within: CallLimits,
    ): Promise<StartedSync> {
      const target = endpoints.sync(workspace);
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const post = { method: 'POST', target, headers, body: { branch } } as const;
      const result = expectSuccess(await call({ ...post, expect: expectSync, anySuccess: true }, within));
      return { ...readReport(result), statusTarget: statusTargetIn(result, target) };
    },

    async syncStatus(target: string, within: CallLimits): Promise<SyncReport> {
      return readReport(expectSuccess(await call({ method: 'GET', target, expect: expectSync }, within)));
    },
  };
}

function readReport({ response }: Succeeded) {
  const body = objectIn(response);
  return {
    ...readSync(body, response.sanitizer),
    clone_url: cloneUrlIn(body, response.baseUrl),
    /** The pause before the next status request, if the service sent one. */
    retryAfterMs: retryAfterIn(response),
  };
}

const maxStatusLength = 64;

export function readSync(body: JsonObject, sanitizer: Sanitizer) {
  const name = (...members: readonly string[]): string | undefined => {
    const text = firstName(body, ...members);
    return text === undefined ? undefined : plainName(text);
  };
  const error = errorIn(body, sanitizer);
  const status = sanitizer.line(firstName(body, 'status', 'state') ?? 'unknown', maxStatusLength);
  return {
    sync_id: name('sync_id', 'id'),
    status,
    state: stateOf(status, error),
    branch: name('branch'),
    estimated_objects: countIn(body['estimated_objects']),
    received_objects: countIn(body['received_objects']),
    /** Bytes of LFS objects. */
    received_bytes: countIn(body['received_bytes']),
    total_bytes: countIn(body['total_bytes']),
    missing_objects: countIn(body['missing_objects']),
    error,
  };
}

const maxUrlLength = 2_048;

/** git sends the token to this URL, so it must be as safe as the base URL, and must not contain a password. */
export function cloneUrlIn(body: JsonObject, baseUrl: URL): string | undefined {
  const text = nameIn(body['clone_url']) ?? '';
  if (text.length > maxUrlLength || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && baseUrl.protocol === 'http:');
  return isSafe && username === '' && password === '' ? href : undefined;
}

const succeededWords = /^(succeeded|success|completed?|done|finished|ok|synced|(already_)?up_?to_?date)$/;
const failedWords = /^(failed|failure|error|cancell?ed|aborted|rejected|timed_?out)$/;

/** The state for the status word of the service. An unknown word counts as running. */
function stateOf(status: string, error: string | undefined): 'running' | 'succeeded' | 'failed' {
  const word = status
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  if (failedWords.test(word)) return 'failed';
  if (!succeededWords.test(word)) return 'running';
  return error === undefined ? 'succeeded' : 'failed';
}

const countIn = (count: Json | undefined): number | undefined =>
  typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;

const maxErrorLength = 500;

function errorIn(body: JsonObject, sanitizer: Sanitizer): string | undefined {
  const message = rawMessageOf({ error: body['error'] ?? null });
  return message === undefined ? undefined : nameIn(sanitizer.line(message, maxErrorLength));
}

const expectSync = expectResource('sync', (body) => firstName(body, 'sync_id', 'id', 'status', 'state') !== undefined);
