import type { RefusedField } from './failure.ts';
import { asObject, firstName, isArray, isObject, type Json, type JsonObject, nameIn } from './json.ts';
import type { ServiceText } from './service-text.ts';

const longestWords = 500;
const longestDetail = 200;
const mostFields = 20;

const joined = (...parts: readonly (string | undefined)[]): string | undefined => {
  const said = [...new Set(parts.filter((part) => part !== undefined))];
  return said.length === 0 ? undefined : said.join(': ');
};

/** What an error body says, in the words of its sender, as it came. */
export function rawWordsOf(body: Json): string | undefined {
  if (typeof body === 'string') return nameIn(body);
  const object = asObject(body);
  const error = object['error'];
  const nested = asObject(error);
  return (
    firstName(object, ['detail', 'title']) ??
    firstName(nested, ['message', 'detail', 'title', 'code']) ??
    // `error` is often no more than a code or the name of the status, and a sentence stands beside it.
    joined(nameIn(error), firstName(object, ['message', 'error_description'])) ??
    firstName(asObject(object['fault']), ['faultstring'])
  );
}

/** `#/hook/url`, `/hook/url`, `["body", "hook", "url"]` or `hook.url`. */
function fieldOf(error: JsonObject): string | undefined {
  const path = error['loc'] ?? error['path'];
  if (isArray(path)) return path.map((part) => nameIn(part) ?? '').join('/');
  const source = asObject(error['source']);
  const name = firstName(error, ['pointer', 'field', 'param', 'path', 'name']) ?? firstName(source, ['pointer']);
  return name?.replace(/^#?\//, '');
}

function fieldErrors(errors: Json | undefined): readonly { field: string | undefined; detail: string }[] {
  if (isArray(errors)) {
    return errors.flatMap((error) => {
      const detail =
        typeof error === 'string' ? error : firstName(asObject(error), ['detail', 'message', 'msg', 'title']);
      return detail === undefined ? [] : [{ field: isObject(error) ? fieldOf(error) : undefined, detail }];
    });
  }
  return Object.entries(asObject(errors)).flatMap(([field, details]) =>
    (isArray(details) ? details : [details]).flatMap((detail) => {
      const text = nameIn(detail);
      return text === undefined ? [] : [{ field, detail: text }];
    }),
  );
}

export function fieldsOf(body: Json, texts: ServiceText): readonly RefusedField[] {
  const object = asObject(body);
  const nested = asObject(object['error']);
  const lists = [object['errors'], object['detail'], object['details'], nested['errors'], nested['details']];
  const found = lists.map(fieldErrors).find((errors) => errors.length > 0) ?? [];
  return found.slice(0, mostFields).map(({ field, detail }) => ({
    field: field === undefined || field === '' ? undefined : texts.line(field, longestDetail),
    detail: texts.line(detail, longestDetail),
  }));
}

export function wordsOf(body: Json, texts: ServiceText): string | undefined {
  const words = rawWordsOf(body);
  return words === undefined ? undefined : nameIn(texts.line(words, longestWords));
}
