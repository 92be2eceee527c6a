import { html } from 'hono/html';
import { withoutSecrets } from '../../../interface/resources.ts';
import { grants } from '../../../interface/scopes.ts';
import { toLock } from '../../locks/lock-row.ts';
import type { QueuedRequest } from '../../locks/queue.ts';
import { findPools, poolWithName, type Seat, type StoredPool, seatsOf } from '../../pools/pools.ts';
import { htmlTable, type Row } from '../elements/list.ts';
import { holderCell, lockCells, newLockUrl, pathLink } from '../elements/lock.ts';
import { empty, faint, literal, liveState, type Markup, time, userText } from '../elements/text.ts';
import { livePage } from '../frame/live-page.ts';
import { addWorkspacePage, type PageCall, type Site, type WorkspaceCall } from '../frame/page.ts';

export const poolsUrl = (workspace: string): string => `/workspaces/${workspace}/pools`;

export function addPoolPages(site: Site): void {
  const { storage, locks } = site;

  addWorkspacePage(site, { path: '/pools', access: 'locks:read' }, async (call) => {
    const workspace = call.workspace.id;
    const pools = await findPools(storage.read, { workspace });
    const rows = await Promise.all(
      pools.map(async (pool) => {
        const free = (await seatsOf(locks, pool, call.bearer)).filter(({ lock }) => lock === undefined).length;
        return [
          ['Pool', html`<a href="${poolsUrl(workspace)}/${pool.name}">${literal(pool.name)}</a>`, 'head'],
          ['Free', `${free} of ${pool.items.length}`],
        ] satisfies Row;
      }),
    );
    const none = empty(
      'This workspace has no pools.',
      html`A pool is a name for lock paths, such as license seats. A job locks one that is free. An operator adds one with <code>workspace-service pool add</code>.`,
    );
    return { title: 'Pools', main: rows.length === 0 ? none : htmlTable(rows) };
  });

  const readPool = async (call: WorkspaceCall) => {
    const pool = await poolWithName(storage.read, call.workspace.id, call.c.req.param('name') ?? '');
    const [seats, queue] = await Promise.all([
      seatsOf(locks, pool, call.bearer),
      locks.queue({ workspace: pool.workspace }),
    ]);
    const paths = new Set(pool.items.map(({ path }) => path));
    return { pool, seats, queue: queue.filter(({ path }) => paths.has(path)) };
  };

  addWorkspacePage(site, { path: '/pools/:name', access: 'locks:read' }, async (call) => {
    const { pool, seats, queue } = await readPool(call);
    const lines = Map.groupBy(queue, ({ path }) => path);
    const rows = seats.map((seat) => seatRow(call, pool, seat, lines.get(seat.item.path) ?? []));
    return {
      title: pool.name,
      script: 'live.js',
      main: html`${liveState(`${poolsUrl(pool.workspace)}/${pool.name}/events`, call.now)}
        <section data-part="seats">${htmlTable(rows)}</section>`,
    };
  });

  const see = async (call: WorkspaceCall) => {
    const { pool } = await readPool(call);
    return {
      key: JSON.stringify([poolsUrl(pool.workspace), pool.name, call.bearer.id]),
      read: async () => JSON.stringify(await readPool(call)),
    };
  };
  addWorkspacePage(site, { path: '/pools/:name/events', access: 'locks:read' }, livePage(site, see));
}

function seatRow(
  { bearer, now }: PageCall,
  { workspace }: StoredPool,
  { item, lock: found }: Seat,
  line: readonly QueuedRequest[],
): Row {
  const { path, properties, secret } = withoutSecrets(item);
  const texts = [
    ...Object.entries(properties).map((pair) => pair.join('=')),
    ...secret.map((name) => `${name} (secret)`),
  ];
  const lockIt = grants(bearer.scopes, 'locks:write') ? html`<a href="${newLockUrl(workspace, path)}">Lock it</a>` : '';
  const lock = found && toLock(found);
  return [
    ['Item', pathLink(workspace, path), 'head'],
    ['Properties', html`${texts.map((text) => html`${userText(text)}<br>`)}`],
    ['Holder', lock === undefined ? html`${faint('free')} ${lockIt}` : holderCell(lock, workspace)],
    ...(lock === undefined
      ? (['Since', 'Time left'] as const).map((name) => [name, ''] as const)
      : lockCells(lock, now)),
    ['Waiting', waitingText(line, now)],
  ];
}

/** The page of the path has all of them. */
const maxShown = 3;

const waitingText = (line: readonly QueuedRequest[], now: number): Markup =>
  line.length === 0
    ? faint('nobody')
    : html`${line
        .slice(0, maxShown)
        .map(({ owner, since }) => html`${userText(owner)} <span class="faint">${time(since, now)}</span><br>`)}${
        line.length > maxShown ? faint(`and ${line.length - maxShown} more`) : ''
      }`;
