import { readFileSync } from 'node:fs';
import { asObject, type Json, type JsonObject, nameIn, parseJson } from '../../client/json.ts';
import { errorMessage } from '../../interface/format.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { findRepository, type GitHubRepository } from '../step/github.ts';
import type { RunEvent } from '../step/runner.ts';

/** Advice for an unusable response from GitHub. */
export const retryAdvice = 'Run the job again, or name the files with `path`.';

/** An event that changes files. `name` describes it in logs and errors. */
export type Change = { readonly name: string } & (
  | { readonly kind: 'pull-request'; readonly number: number }
  /** Its files differ between the two commits. For a new branch or tag, the base is the default branch. */
  | { readonly kind: 'push' | 'merge-group' | 'new-ref'; readonly base: string; readonly head: string }
  | { readonly kind: 'deleted-ref' }
);

/** A change, and the repository to read it from. */
export interface ChangeSource extends GitHubRepository {
  readonly change: Change;
}

/** Determines which change to look up, and where, without sending a request. */
export function findSource(event: RunEvent, token: string, allowHttp: boolean): Parsed<ChangeSource> {
  const change = readChange(event);
  if (!change.ok) return change;
  const repository = findRepository(event, token, allowHttp);
  return repository.ok ? accepted({ change: change.value, ...repository.value }) : repository;
}

function readChange({ name, file }: RunEvent): Parsed<Change> {
  try {
    const payload = parseJson(readFileSync(file, 'utf8'));
    if (payload.ok) return parseChange(name, payload.value);
    return refused(`The file with the event of the run cannot be used: ${payload.reason}.`);
  } catch (error) {
    return refused(`The file with the event of the run (GITHUB_EVENT_PATH) cannot be read: ${errorMessage(error)}.`);
  }
}

const pathAdvice = 'Name the files with `path` instead.';

/** Parses the payload of an event: docs.github.com, "Webhook events and payloads". */
export function parseChange(event: string, json: Json): Parsed<Change> {
  const payload = asObject(json);
  // Every event about a pull request has its number here.
  const number = asObject(payload['pull_request'])['number'];
  if (typeof number === 'number' && Number.isSafeInteger(number) && number > 0) {
    return accepted({ kind: 'pull-request', name: `pull request #${number}`, number });
  }
  if (event === 'push') return parsePush(payload);
  if (event === 'merge_group') return parseMergeGroup(payload);
  return refused(
    `The event of the run is ${JSON.stringify(event)}, which has no list of changed files. Supported events: push, merge_group and those with a pull request (pull_request, pull_request_target, pull_request_review and others). ${pathAdvice}`,
  );
}

function parsePush(payload: JsonObject): Parsed<Change> {
  const ref = nameIn(payload['ref']);
  const before = commitIn(payload['before']);
  const after = commitIn(payload['after']);
  if (ref === undefined || before === undefined || after === undefined) {
    return refused(`The push event does not name its commits. ${pathAdvice}`);
  }
  // Shortens `refs/heads/main` to `main`.
  const branch = ref.replace(/^refs\/(?:heads|tags)\//, '');
  if (isNullCommit(after)) return accepted({ kind: 'deleted-ref', name: `the push that deletes ${branch}` });
  if (!isNullCommit(before)) {
    const name = `the push to ${branch} (${short(before)} to ${short(after)})`;
    return accepted({ kind: 'push', name, base: before, head: after });
  }
  const defaultBranch = nameIn(asObject(payload['repository'])['default_branch']);
  if (defaultBranch === undefined || ref === `refs/heads/${defaultBranch}`) {
    return refused(
      `The push creates ${JSON.stringify(branch)}, and there is no other branch to compare it with. ${pathAdvice}`,
    );
  }
  const name = `the push that creates ${branch} (${short(after)}, compared with ${defaultBranch})`;
  return accepted({ kind: 'new-ref', name, base: defaultBranch, head: after });
}

function parseMergeGroup(payload: JsonObject): Parsed<Change> {
  const group = asObject(payload['merge_group']);
  const base = commitIn(group['base_sha']);
  const head = commitIn(group['head_sha']);
  if (base === undefined || head === undefined || isNullCommit(base) || isNullCommit(head)) {
    return refused(`The merge_group event does not name its commits. ${pathAdvice}`);
  }
  return accepted({ kind: 'merge-group', name: `the merge group (${short(base)} to ${short(head)})`, base, head });
}

const short = (commit: string): string => commit.slice(0, 7);

/** A full commit id, SHA-1 or SHA-256. */
const commitIn = (json: Json | undefined): string | undefined =>
  typeof json === 'string' && /^(?:[\da-f]{40}|[\da-f]{64})$/.test(json) ? json : undefined;

/** For a branch that does not exist yet, or no longer exists, GitHub sends zeros as the commit. */
const isNullCommit = (commit: string): boolean => /^0+$/.test(commit);
