export const entityTag = (id: string): string => `"${id}"`;

/** Returns whether the id of a lock satisfies a condition. */
export type IdMatch = (id: string) => boolean;

const anyTag = /^[ \t]*\*[ \t]*$/;

/**
 * `If-Match` of RFC 9110 section 13.1.1: `*` or a list of entity tags, compared strongly, so that a weak one never
 * matches. Invalid values match nothing: a condition that cannot be parsed must not allow a change.
 */
export function parseIfMatch(header: string): IdMatch {
  if (anyTag.test(header)) return () => true;
  const tags = strongTagsIn(header);
  return tags === undefined ? nothing : (id) => tags.has(id);
}

const nothing: IdMatch = () => false;

/**
 * A list element and its separator; elements may be empty (RFC 9110 section 5.6.1.2). The opaque tag may contain commas
 * (section 8.8.3). No two alternatives start with the same character, so that matching never backtracks.
 */
const listElement = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;

/** The strong tags; undefined if the text as a whole is not a list of at least one tag. */
function strongTagsIn(list: string): ReadonlySet<string> | undefined {
  const strong = new Set<string>();
  let tags = 0;
  for (let at = 0; at < list.length; ) {
    listElement.lastIndex = at;
    const [element = '', weak, opaque] = listElement.exec(list) ?? [];
    if (element === '') return undefined;
    if (opaque !== undefined) {
      tags += 1;
      if (weak === undefined) strong.add(opaque);
    }
    at += element.length;
  }
  return tags === 0 ? undefined : strong;
}
