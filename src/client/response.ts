import type { IncomingHttpHeaders } from 'node:http';
import { asObject, type Json, type JsonObject, parseJson } from './json.ts';
import type { Sanitizer } from './sanitizer.ts';

/** Enough for a lease of 20,000 locks. */
export const maxResponseBytes = 32 * 1_024 * 1_024;

type ResponseBody =
  | { readonly kind: 'json'; readonly value: Json; readonly byteLength: number }
  | { readonly kind: 'empty' }
  | { readonly kind: 'other'; readonly reason: string; readonly excerpt: string; readonly tooLarge: boolean };

export interface ClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: ResponseBody;
  readonly baseUrl: URL;
  /** The name of the server in texts, such as "The service". */
  readonly server: string;
  /** By the clock of the server. */
  readonly receivedAt: number;
  /** For the texts in the response. */
  readonly sanitizer: Sanitizer;
}

type ResponseOrigin = Pick<ClientResponse, 'baseUrl' | 'server' | 'receivedAt' | 'sanitizer'>;

export interface RawResponse extends Pick<ClientResponse, 'status' | 'headers'> {
  readonly bytes: Uint8Array;
  readonly tooLarge: boolean;
}

export function parseResponse(received: RawResponse, origin: ResponseOrigin): ClientResponse {
  const { status, headers } = received;
  return { ...origin, status, headers, body: readBody(received, origin.sanitizer) };
}

export const isSuccess = ({ status }: ClientResponse): boolean => status >= 200 && status < 300;

export const objectIn = ({ body }: ClientResponse): JsonObject => (body.kind === 'json' ? asObject(body.value) : {});

const maxWarningLength = 300;

/** Reports the headers Deprecation (RFC 9745) and Sunset (RFC 8594) in a single warning for all responses. */
export function warnOfDeprecation(warn: (sentence: string) => void): (response: ClientResponse) => void {
  let warned = false;
  return (response) => {
    const sunset = headerOf(response, 'sunset');
    if (warned || (sunset ?? headerOf(response, 'deprecation')) === undefined) return;
    warned = true;
    const links = parseLinks(headerOf(response, 'link'));
    const link = links.get('deprecation') ?? links.get('sunset');
    const ending = sunset === undefined ? '' : `, and ends on ${sunset}`;
    const sentence = `The service says that this API is deprecated${ending}.${link === undefined ? '' : ` See ${link}`}`;
    warn(response.sanitizer.line(sentence, maxWarningLength));
  };
}

/** The value of a header; the first one if there are several. */
export function headerOf({ headers }: ClientResponse, name: string): string | undefined {
  const value = headers[name];
  const [first] = Array.isArray(value) ? value : [value];
  return first?.trim() === '' ? undefined : first?.trim();
}

const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/** The targets of a Link header (RFC 8288) by relation. The first one counts if several have the same relation. */
export function parseLinks(header: string | undefined): ReadonlyMap<string, string> {
  const targets = new Map<string, string>();
  // A target and its parameters. Quoted values can contain commas and semicolons.
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^<>]*)>((?:[^,"<]|"[^"]*")*)/g)) {
    const [, quoted, plain] = relation.exec(parameters) ?? [];
    for (const name of (quoted ?? plain ?? '').toLowerCase().split(/\s+/)) {
      if (name !== '' && !targets.has(name)) targets.set(name, target);
    }
  }
  return targets;
}

const maxExcerptLength = 200;

/** JSON is recognized by parsing, because many servers send it as `text/plain` or without a type. */
function readBody({ headers, bytes, tooLarge }: RawResponse, sanitizer: Sanitizer): ResponseBody {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (coding !== '' && coding !== 'identity' && bytes.length > 0) {
    const reason = `it is compressed (${sanitizer.line(coding, 40)}), which was not requested`;
    return { kind: 'other', reason, excerpt: '', tooLarge };
  }
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === '') return { kind: 'empty' };
  const other = (reason: string): ResponseBody => {
    return { kind: 'other', reason, excerpt: sanitizer.line(text, maxExcerptLength), tooLarge };
  };
  if (tooLarge) return other('it is larger than 32 MiB');
  const parsed = parseJson(text, sanitizer.data);
  if (parsed.ok) return { kind: 'json', value: parsed.value, byteLength: bytes.length };
  const type = sanitizer.line(headers['content-type'] ?? '', 80);
  return other(`${parsed.reason}${type === '' ? '' : ` (Content-Type: ${type})`}`);
}
