import { follow } from './addresses.ts';
import { type Answer, headerOf, isSuccess, objectIn, parseLinks } from './answer.ts';
import type { Call, Outcome, Within } from './call.ts';
import { asObject, firstName, isArray, isObject, type Json, type JsonObject } from './json.ts';
import { requestIdOf, unusable } from './refusal.ts';
import type { Failure } from './service-error.ts';
import type { ServiceText } from './service-text.ts';

/** What a list could be read as, and why that may not be all of it. */
export interface List<Item> {
  readonly items: readonly Item[];
  /** A sentence; undefined when the list is whole. */
  readonly incomplete: string | undefined;
}

type Answered = Extract<Outcome, { kind: 'answered' }>;

const mostPages = 1_000;

/** As JSON: read, it takes many times the room. A workspace of our service has at most a fifth as many locks. */
const maxListBytes = 64 * 1_024 * 1_024;
const maxEntries = 1_000_000;

/** An array, or an object that has it under the name of what is listed or one of the common names. */
export function entriesOf(body: Json, name: string): readonly Json[] | undefined {
  if (isArray(body)) return body;
  if (!isObject(body)) return undefined;
  const found = [name, 'items', 'data', 'results'].map((each) => body[each]).find((each) => isArray(each));
  if (isArray(found)) return found;
  const inner = body['data'];
  return isObject(inner) ? entriesOf(inner, name) : undefined;
}

function readEntries(course: Answered, name: string): readonly Json[] {
  const { answer, texts } = course;
  const wrong = unusable(answer, texts);
  if (wrong !== undefined) throw course.fail(wrong);
  const entries = answer.body.kind === 'json' ? entriesOf(answer.body.value, name) : undefined;
  if (entries !== undefined) return entries;
  const found = Object.keys(objectIn(answer)).join(', ');
  throw course.fail({
    kind: 'not-understood',
    status: answer.status,
    requestId: requestIdOf(answer, texts),
    why: `there is no list in it, neither bare nor as ${name}, items, data or results`,
    excerpt: texts.line(found === '' ? '' : `an object with ${found}`, 200),
  });
}

export interface Pages {
  readonly call: Call;
  readonly baseUrl: URL;
}

export interface Listing {
  readonly target: string;
  /** The same list, asked for without parameters that a service may not know. */
  readonly plainTarget?: string;
  /** What is listed, as the service names the array of it. */
  readonly name: string;
}

/** Reads a list page by page, and each of its entries. */
export async function readPages<Item>(
  { call, baseUrl }: Pages,
  { target: firstTarget, plainTarget, name }: Listing,
  readEntry: (entry: Json, texts: ServiceText) => Item | undefined,
  within: Within,
): Promise<List<Item>> {
  const items: Item[] = [];
  const seen = new Set<string>();
  let unread = 0;
  let bytes = 0;
  let before: readonly Json[] = [];

  const list = (why: string | undefined): List<Item> => {
    const skipped = unread === 0 ? undefined : `${unread} of its entries could not be read`;
    const reasons = [why, skipped].filter((reason) => reason !== undefined);
    return {
      items,
      incomplete: reasons.length === 0 ? undefined : `The list of ${name} may not be whole: ${reasons.join('; ')}.`,
    };
  };

  async function ask(target: string): Promise<Answered> {
    const outcome = await call({ method: 'GET', target }, within);
    if (outcome.kind === 'given-up') throw outcome.error;
    return outcome;
  }

  let target = firstTarget;
  for (let page = 1; ; page += 1) {
    seen.add(target);
    let course = await ask(target);
    if (page === 1 && plainTarget !== undefined && [400, 422].includes(course.answer.status)) {
      target = plainTarget;
      seen.add(target);
      course = await ask(target);
    }
    const { answer, texts } = course;
    if (!isSuccess(answer)) throw course.refuse(answer);
    const entries = readEntries(course, name);
    const next = nextPage(answer, target, baseUrl);
    const goesRound = next.kind === 'page' && seen.has(next.target);

    // A service that does not know cursors gives its first page again and again.
    if (goesRound && JSON.stringify(entries) === JSON.stringify(before)) {
      return list('the service gives the same page again');
    }
    before = entries;
    bytes += answer.body.kind === 'json' ? answer.body.byteLength : 0;
    // Of a page that is too much nothing is taken: what it would take is what the limit is about.
    if (bytes > maxListBytes) return list('its pages have more than 64 MB together');
    if (items.length + unread + entries.length > maxEntries) return list(`it has more than ${maxEntries} entries`);
    for (const entry of entries) {
      const item = readEntry(entry, texts);
      if (item === undefined) unread += 1;
      else items.push(item);
    }

    if (next.kind === 'none') return list(undefined);
    if (next.kind === 'elsewhere') throw course.fail(leadsElsewhere(course, next.origin));
    if (goesRound) return list('the service names a page as the next that was there before');
    if (page === mostPages) return list(`it has more than ${mostPages} pages`);
    target = next.target;
  }
}

function leadsElsewhere({ answer, texts }: Answered, origin: string): Failure {
  return {
    kind: 'not-understood',
    status: answer.status,
    requestId: requestIdOf(answer, texts),
    why: texts.line(`its next page is at ${origin}, which is another server, and the token must not go there`, 300),
    excerpt: '',
  };
}

export type NextPage =
  | { readonly kind: 'none' }
  | { readonly kind: 'page'; readonly target: string }
  | { readonly kind: 'elsewhere'; readonly origin: string };

type Hint = { readonly kind: 'address' | 'cursor'; readonly text: string };

const looksLikeAddress = (text: string): boolean => /^(https?:\/\/|[/?])/i.test(text);

/** `next` is an address to some and a cursor to others. */
function hintIn(body: JsonObject): Hint | undefined {
  const cursor = firstName(body, ['next_cursor', 'nextCursor']);
  if (cursor !== undefined) return { kind: 'cursor', text: cursor };
  const next = firstName(body, ['next']) ?? firstName(asObject(body['next']), ['href', 'url']);
  if (next === undefined) return undefined;
  return { kind: looksLikeAddress(next) ? 'address' : 'cursor', text: next };
}

function hintOf(answer: Answer): Hint | undefined {
  const linked = parseLinks(headerOf(answer, 'link')).get('next');
  if (linked !== undefined) return { kind: 'address', text: linked };
  const body = objectIn(answer);
  if (body['has_more'] === false || body['hasMore'] === false) return undefined;
  const places = [body, ...['pagination', 'paging', 'meta', 'links', '_links'].map((name) => asObject(body[name]))];
  return places.map(hintIn).find((hint) => hint !== undefined);
}

function withCursor(target: string, cursor: string): string {
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  parameters.set('cursor', cursor);
  return `${path}?${parameters}`;
}

/** Where the list goes on that this answer is a page of, if it does; never on another server. */
export function nextPage(answer: Answer, target: string, baseUrl: URL): NextPage {
  const hint = hintOf(answer);
  if (hint === undefined) return { kind: 'none' };
  if (hint.kind === 'cursor') return { kind: 'page', target: withCursor(target, hint.text) };
  const followed = follow(hint.text, target, baseUrl);
  switch (followed.kind) {
    case 'target':
      return { kind: 'page', target: followed.target };
    case 'elsewhere':
      return followed;
    case 'not-an-address':
      return { kind: 'page', target: withCursor(target, hint.text) };
  }
}
