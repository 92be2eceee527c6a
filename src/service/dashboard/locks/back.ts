import { listAddress, parseListQuery } from './list-query.ts';

/** What other text is made of an address, it shows the list and nothing else. */
const understood = (search: string): ReturnType<typeof parseListQuery> => {
  const parameters = new URLSearchParams(search);
  return parseListQuery((name) => parameters.get(name) ?? '');
};

const list = (search: string): URL => new URL(listAddress('any', understood(search)), 'http://here.invalid');

/** A search of the list that was sent along, with nothing in it that is not one. */
export const backSearch = (search: string): string => list(search).search;

/** The search of the list that led here, so that one comes back to the same rows. */
export function searchOfReferer(referer: string | undefined, workspace: string): string {
  if (referer === undefined || !URL.canParse(referer)) return '';
  const { pathname, search } = new URL(referer);
  return pathname === listAddress(workspace) ? backSearch(search) : '';
}

/** The list as it was left, perhaps with a notice. */
export function listAt(workspace: string, search: string, notice?: 'released' | 'absent'): string {
  const address = listAddress(workspace, understood(search));
  if (notice === undefined) return address;
  return `${address}${address.includes('?') ? '&' : '?'}notice=${notice}`;
}
