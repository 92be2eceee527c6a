export const entityTag = (id: string): string => `"${id}"`;

/** Whether a lock's id satisfies a condition. */
export type IdMatch = (id: string) => boolean;

const anyTag = /^[ \t]*\*[ \t]*$/;

/**
 * `If-Match` of RFC 9110 section 13.1.1: `*` or a list of entity tags, compared strongly, so that a weak one never
 * matches. Whatever else it says matches nothing: a condition that cannot be read must not let a change through.
 */
export function parseIfMatch(header: string): IdMatch {
  if (anyTag.test(header)) return () => true;
  const tags = strongTagsIn(header);
  return tags === undefined ? nothing : (id) => tags.has(id);
}

const nothing: IdMatch = () => false;

/**
 * An element of a list and what ends it, RFC 9110 section 5.6.1.2: the element may be empty. The opaque tag is that of
 * section 8.8.3, in which a comma separates nothing. No two parts can begin with the same character, so that a text that
 * does not match is given up after one look at it.
 */
const listElement = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;

/** The tags that are not weak; undefined where the text is not a list of at least one tag, from its first to its last character. */
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
