/** Whether a lock's id satisfies a condition. */
export type IdMatch = (id: string) => boolean;

export const entityTag = (id: string): string => `"${id}"`;

/**
 * `If-Match` of RFC 9110 section 13.1.1: `*` or a list of entity tags, compared strongly, so that a weak one never
 * matches. Whatever else it says matches nothing: a condition that cannot be read must not let a change through.
 */
export function parseIfMatch(header: string): IdMatch {
  if (header.trim() === '*') return () => true;
  const tags = new Set(header.match(/(?:W\/)?"[^"]*"/g) ?? []);
  return (id) => tags.has(entityTag(id));
}
