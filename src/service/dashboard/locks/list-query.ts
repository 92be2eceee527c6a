/** What is shown of the locks, as the address of the page says it. */
export interface ListQuery {
  readonly search: string;
  readonly sort: Sort;
  readonly group: boolean;
  /** Only the lock on this path: where a message about a locked file points to. */
  readonly path: string;
  /** From 1. Only without JavaScript. */
  readonly page: number;
}

export interface Sort {
  readonly by: SortKey;
  readonly descending: boolean;
}

/** In the order of the columns. */
export const sortKeys = ['path', 'holder', 'run', 'since', 'left'] as const;

export type SortKey = (typeof sortKeys)[number];

export const queryNames = ['search', 'sort', 'group', 'path', 'page'] as const;

export type QueryName = (typeof queryNames)[number];

export const wholeList: ListQuery = {
  search: '',
  sort: { by: 'path', descending: false },
  group: false,
  path: '',
  page: 1,
};

/** `left`, or `-left` for the reverse. */
export const sortText = ({ by, descending }: Sort): string => `${descending ? '-' : ''}${by}`;

function parseSort(text: string): Sort {
  const descending = text.startsWith('-');
  const by = sortKeys.find((key) => key === text.slice(descending ? 1 : 0));
  return by === undefined ? wholeList.sort : { by, descending };
}

/** Each of its words is looked for in each of the locks. */
const longestSearch = 256;

/** What it does not understand is as if it were not there: an address is also typed and shortened by people. */
export const parseListQuery = (text: (name: QueryName) => string): ListQuery => ({
  search: text('search').slice(0, longestSearch).trim(),
  sort: parseSort(text('sort')),
  group: text('group') === 'folder',
  path: text('path'),
  page: /^[1-9]\d{0,5}$/.test(text('page')) ? Number(text('page')) : 1,
});

/** The address that shows this, with no more than what differs from the whole list. */
export function listAddress(workspace: string, query: Partial<ListQuery> = {}): string {
  const { search, sort, group, path, page } = { ...wholeList, ...query };
  const parameters = new URLSearchParams({
    ...(search !== '' && { search }),
    ...(sortText(sort) !== sortText(wholeList.sort) && { sort: sortText(sort) }),
    ...(group && { group: 'folder' }),
    ...(path !== '' && { path }),
    ...(page > 1 && { page: String(page) }),
  });
  const all = `/workspaces/${workspace}/locks`;
  return parameters.size === 0 ? all : `${all}?${parameters}`;
}
