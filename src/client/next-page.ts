import { follow } from './addresses.ts';
import { type Answer, headerOf, objectIn } from './answer.ts';
import { asObject, firstName, type JsonObject } from './json.ts';
import { parseLinks } from './link-header.ts';

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
