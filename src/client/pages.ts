import { asObject, isArray, isObject, type Json, type JsonObject, nameIn } from './json.ts';
import { membersOf, notUnderstood, rawMessageOf, unusable } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess, resolveLink, type Succeeded } from './request.ts';
import { type ClientResponse, headerOf, objectIn, parseLinks } from './response.ts';
import type { Sanitizer } from './sanitizer.ts';
import type { Failure } from './service-error.ts';

export interface List<Item> {
  readonly items: readonly Item[];
  /** A sentence; undefined if the list is complete. */
  readonly incomplete: string | undefined;
}

const maxPages = 1_000;

/**
 * Size as JSON, which takes many times the memory when parsed. A full workspace of this project's service has a fifth.
 */
const maxListBytes = 64 * 1_024 * 1_024;
const maxEntries = 1_000_000;

interface Listing {
  readonly target: string;
  /** The same list without the query parameters that a service may not support. */
  readonly plainTarget?: string;
  /** The name of the array in the response. */
  readonly name: string;
  readonly once?: boolean | undefined;
}

/** A service that knows only the interface may reject query parameters. */
const rejected: readonly number[] = [400, 422];

export async function readPages<Item>(
  { call }: ClientContext,
  { target: firstTarget, plainTarget, name, once }: Listing,
  readEntry: (entry: Json, sanitizer: Sanitizer) => Item | undefined,
  within: CallLimits,
): Promise<List<Item>> {
  const items: Item[] = [];
  const seen = new Set<string>();
  let unread = 0;
  let bytes = 0;
  let before: readonly Json[] = [];

  const list = (reason: string | undefined): List<Item> => {
    const skipped = unread === 0 ? undefined : `${unread} of its entries could not be read`;
    const reasons = [reason, skipped].filter((reason) => reason !== undefined);
    return {
      items,
      incomplete: reasons.length === 0 ? undefined : `The list of ${name} may be incomplete: ${reasons.join('; ')}.`,
    };
  };

  const expect = (response: ClientResponse) => expectEntries(response, name);
  let target = firstTarget;
  for (let page = 1; ; page += 1) {
    seen.add(target);
    const fallback = page === 1 ? plainTarget : undefined;
    const request = { method: 'GET', expect, once, anySuccess: true } as const;
    let result = await call({ ...request, target, ...(fallback && { finalAt: rejected }) }, within);
    if (fallback !== undefined && result.response && rejected.includes(result.response.status)) {
      target = fallback;
      seen.add(target);
      result = await call({ ...request, target }, within);
    }
    const answered = expectSuccess(result);
    const { response } = answered;
    const wrong = expect(response);
    if (wrong !== undefined && !isEmptyList(response, name)) throw answered.error({ ...wrong, isTransient: false });
    const entries = entriesIn(response, name) ?? [];
    const next = nextTarget(answered, target);
    const isLoop = next !== undefined && seen.has(next);

    // A service without cursors returns its first page again and again.
    if (isLoop && JSON.stringify(entries) === JSON.stringify(before)) {
      return list('the service returned the same page again');
    }
    before = entries;
    bytes += response.body.kind === 'json' ? response.body.byteLength : 0;
    // A page beyond the limit is dropped completely, because keeping it would take too much memory.
    if (bytes > maxListBytes) return list('its pages exceed 64 MiB in total');
    if (items.length + unread + entries.length > maxEntries) return list(`it has more than ${maxEntries} entries`);
    for (const entry of entries) {
      const item = readEntry(entry, response.sanitizer);
      if (item === undefined) unread += 1;
      else items.push(item);
    }

    if (next === undefined) {
      const hasMore = announcesMore(response, page, items.length + unread);
      return list(hasMore ? 'the service has more pages, but does not name the next one' : undefined);
    }
    if (isLoop) return list('the service linked to a page that was already read');
    if (page === maxPages) return list(`it has more than ${maxPages} pages`);
    target = next;
  }
}

function expectEntries(response: ClientResponse, name: string): Failure | undefined {
  if (entriesIn(response, name) !== undefined) return undefined;
  const reason = `it contains no list, neither on its own nor as ${name}, items, data or results`;
  return unusable(response) ?? notUnderstood(response, reason, membersOf(response));
}

const entriesIn = ({ body }: ClientResponse, name: string): readonly Json[] | undefined =>
  body.kind === 'json' ? entriesOf(body.value, name) : undefined;

/**
 * A service without marks may express an empty list in its own way, such as `null`, which Go writes for an empty slice.
 * With a message, as in `{"data": null, "message": …}`, it is an error.
 */
function isEmptyList({ status, body }: ClientResponse, name: string): boolean {
  if (body.kind !== 'json') return body.kind === 'empty' && status === 204;
  if (body.value === null) return true;
  return rawMessageOf(body.value) === undefined && namesOf(name).some((each) => asObject(body.value)[each] === null);
}

/** Undefined if the service names no next page. */
function nextTarget(answered: Succeeded, target: string): string | undefined {
  const { response } = answered;
  const atUrl = (link: string): string => {
    const followed = resolveLink(link, target, response.baseUrl);
    if (followed === undefined) return withCursor(target, link);
    if (followed.target !== undefined) return followed.target;
    const reason = `its next page is on another server, ${followed.server}, and the token must not be sent there`;
    // Any lock may be on that page, so no path counts as looked up.
    throw answered.error(notUnderstood(response, reason));
  };
  const linked = parseLinks(headerOf(response, 'link')).get('next');
  if (linked !== undefined) return atUrl(linked);
  for (const { next_cursor, next } of placesIn(response)) {
    const cursor = nameIn(next_cursor);
    if (cursor !== undefined) return withCursor(target, cursor);
    // In some services, `next` is a URL; in others, it is a cursor.
    const text = nameIn(next) ?? nameIn(asObject(next)['href']);
    if (text !== undefined) return looksLikeUrl(text) ? atUrl(text) : withCursor(target, text);
  }
  return undefined;
}

/** The body, and the members in which some services wrap the page links. */
function placesIn(response: ClientResponse): readonly JsonObject[] {
  const body = objectIn(response);
  const wrappers = ['data', 'pagination', 'pageInfo', 'page_info', 'paging', 'meta', 'links', '_links'];
  return [body, ...wrappers.map((name) => asObject(body[name]))];
}

/** Common flags for more pages. They are not followed, because the parameter for the next page is unknown. */
const moreNames = /^(has_?(more|next)(_?page)?|(is_?)?truncated)$/i;
const nextNames = /^(next|continuation)(_?page)?(_?(token|cursor|url|link|number|offset))?$/i;
const totalNames = /^(count|total(_?(count|items|entries|results|locks))?)$/i;
const pagesNames = /^(pages|(total|num)_?pages|page_?count|last_?page)$/i;

/** Whether there are more than these pages and entries. */
const announcesMore = (response: ClientResponse, page: number, entries: number): boolean =>
  [...placesIn(response), { total: headerOf(response, 'x-total-count') ?? null }].some((place: JsonObject) =>
    Object.entries(place).some(
      ([name, value]) =>
        (moreNames.test(name) && value === true) ||
        (nextNames.test(name) && Boolean(value)) ||
        (totalNames.test(name) && Number(value) > entries) ||
        (pagesNames.test(name) && Number(value) > Math.max(page, Number(place['page'] ?? place['current_page'] ?? 0))),
    ),
  );

/** Finds an array: the body itself, or a member with the name of the list or a common name. */
function entriesOf(body: Json, name: string): readonly Json[] | undefined {
  if (isArray(body)) return body;
  if (!isObject(body)) return undefined;
  const found = namesOf(name)
    .map((each) => body[each])
    .find((each) => isArray(each));
  if (isArray(found)) return found;
  const inner = body['data'];
  return isObject(inner) ? entriesOf(inner, name) : undefined;
}

const namesOf = (name: string): readonly string[] => [name, 'items', 'data', 'results'];

const looksLikeUrl = (text: string): boolean => /^(https?:\/\/|[/?])/i.test(text);

function withCursor(target: string, cursor: string): string {
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  parameters.set('cursor', cursor);
  return `${path}?${parameters}`;
}
