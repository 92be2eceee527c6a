import { readFileSync } from 'node:fs';
import { parseJson } from '../../client/json.ts';
import { isLoopback } from '../../interface/loopback.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { type Change, parseChange } from './change.ts';

/** What the runner says of the event and of its GitHub; empty where it says nothing. */
export interface GitHubPlace {
  readonly event: string;
  readonly eventFile: string;
  /** `owner/name` */
  readonly repository: string;
  readonly apiUrl: string;
}

export interface Repository {
  readonly owner: string;
  readonly repo: string;
}

/** Of what the files are looked up, and where. */
export interface ChangeSource {
  readonly change: Change;
  readonly repository: Repository;
  /** Without a slash at its end. */
  readonly apiUrl: string;
  readonly token: string;
}

function readEvent(file: string): Parsed<string> {
  if (file === '') return refused('The runner names no file with the event of the run (GITHUB_EVENT_PATH).');
  try {
    return accepted(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refused(`The file with the event of the run cannot be read: ${why}.`);
  }
}

function readChange({ event, eventFile }: GitHubPlace): Parsed<Change> {
  const text = readEvent(eventFile);
  if (!text.ok) return text;
  const payload = parseJson(text.value, (each) => each);
  return payload.ok
    ? parseChange(event, payload.value)
    : refused(`The file with the event of the run cannot be used: ${payload.why}.`);
}

function parseRepository(text: string): Parsed<Repository> {
  const [, owner, repo] = /^([\w.-]+)\/([\w.-]+)$/.exec(text) ?? [];
  return owner === undefined || repo === undefined
    ? refused('The runner does not name the repository as owner/name (GITHUB_REPOSITORY).')
    : accepted({ owner, repo });
}

function parseApiUrl(text: string, allowHttp: boolean): Parsed<string> {
  const url = URL.parse(text === '' ? 'https://api.github.com' : text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return refused("The runner does not name the address of GitHub's interface (GITHUB_API_URL).");
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    return refused(
      `The interface of GitHub is at ${url.origin}: plain http would show the token to everybody on the way. Set \`allow-http: true\` if the network is yours alone.`,
    );
  }
  return accepted(`${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, ''));
}

export interface Access {
  readonly token: string;
  readonly allowHttp: boolean;
}

/** Finds out without a request of what the files are to be looked up. */
export function findSource(place: GitHubPlace, { token, allowHttp }: Access): Parsed<ChangeSource> {
  const change = readChange(place);
  if (!change.ok) return change;
  const repository = parseRepository(place.repository);
  if (!repository.ok) return repository;
  const apiUrl = parseApiUrl(place.apiUrl, allowHttp);
  if (!apiUrl.ok) return apiUrl;
  return accepted({ change: change.value, repository: repository.value, apiUrl: apiUrl.value, token });
}
