export const entityTag = (id: string): string => `"${id}"`;

export type IdMatch = (id: string) => boolean;

const anyTag = /^[ \t]*\*[ \t]*$/;

/** RFC 9110 section 8.8.3. The opaque part may contain commas. */
export const tagPattern = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';

const tags = new RegExp(tagPattern, 'g');

/** Elements may be empty (RFC 9110 section 5.6.1.2). */
const tagList = new RegExp(`^[ \\t,]*${tagPattern}(?:[ \\t]*,[ \\t,]*${tagPattern})*[ \\t,]*$`);

/**
 * `If-Match` of RFC 9110 section 13.1.1: `*` or a list of entity tags, compared strongly, so that a weak one never
 * matches. Invalid values match nothing: a condition that cannot be parsed must not allow a change.
 */
export function parseIfMatch(header: string): IdMatch {
  if (anyTag.test(header)) return () => true;
  const given = new Set<string>(tagList.test(header) ? header.match(tags) : []);
  return (id) => given.has(entityTag(id));
}
