import { html } from 'hono/html';
import { safeText } from '../../../interface/safe-text.ts';
import { findCommittedLock, type LockRow, listOwnLocks, toLock } from '../../locks/find.ts';
import { countWaiting, placeInLine, waitsForOwnLocks, waitsOfOwner } from '../../locks/queue.ts';
import { waitIds } from '../../locks/wait-terms.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { postForm } from '../elements/fields.ts';
import {
  actionLink,
  holderCell,
  lockCells,
  lockLinks,
  mayLock,
  noteLine,
  pathLink,
  runLink,
  urls,
  waitingLink,
} from '../elements/lock.ts';
import {
  empty,
  htmlTable,
  liveState,
  type Markup,
  notifyButton,
  type Row,
  time,
  userText,
} from '../elements/markup.ts';
import type { PageCall } from '../frame/layout.ts';
import { addPage, type Site } from '../frame/page.ts';

/** More files than one person works on. The locks of a pipeline are in the list of the workspace. */
const maxShown = 200;
const maxWaits = 20;

export function addOwnLocksPage(site: Site): void {
  addPage(site, '/my-locks', 'locks:read', async (call) => ({
    title: 'My locks',
    main: html`<p>The locks that ${userText(call.bearer.owner)} holds or waits for, with any token.</p>
      ${liveState(call.now, notifyButton)}
      ${await waitSections(site, call)}
      <section data-part="own">${await ownLocksSection(site, call)}</section>`,
  }));
}

/** The clients that wait for the viewer's locks, and the paths that the viewer waits for. Each part may be empty. */
async function waitSections(site: Site, call: PageCall): Promise<Markup> {
  const { bearer, now } = call;
  const [others, own] = await Promise.all([
    waitsForOwnLocks(site.storage.read, bearer, maxWaits),
    waitsWithPlaces(site, bearer),
  ]);
  return html`<div data-part="others-wait">${section(
    'Others wait for you',
    others.map((wait) => otherRow(wait, now)),
  )}</div>
    <div data-part="own-waits">${section(
      'You wait for',
      own.map((wait) => ownWaitRow(call, wait)),
    )}</div>`;
}

/** A table with a heading; empty without rows. */
const section = (title: string, rows: readonly Row[]): Markup | string =>
  rows.length === 0 ? '' : html`<section><h2>${title}</h2>${htmlTable(rows)}</section>`;

type OtherWait = Awaited<ReturnType<typeof waitsForOwnLocks>>[number];

const otherRow = ({ workspace, path, id, ...wait }: OtherWait, now: number): Row => [
  [
    'Path',
    html`<span data-notice="${safeText(`${wait.owner} waits for ${path}`)}">${pathLink(workspace, path)}</span>`,
    'head',
  ],
  ['Who waits', holderCell(wait)],
  ['Since', time(asTimestamp(wait.since), now)],
  ['Actions', actionLink('Release', path, urls.release(workspace, id)), 'nowrap'],
];

type OwnWait = Awaited<ReturnType<typeof waitsWithPlaces>>[number];

const waitsWithPlaces = async ({ storage }: Site, bearer: PageCall['bearer']) =>
  Promise.all(
    (await waitsOfOwner(storage.read, bearer, maxWaits)).map(async (wait) => {
      const { workspace, path, waitId } = wait;
      const [place, lock] = await Promise.all([
        placeInLine(storage.read, waitId),
        findCommittedLock(storage.read, { workspace, path }),
      ]);
      return { ...wait, place, holder: lock ? toLock(lock) : undefined };
    }),
  );

function ownWaitRow(call: PageCall, { workspace, waitId, holder, ...wait }: OwnWait): Row {
  const { bearer, now } = call;
  const isOfPerson = waitIds.ofPerson(bearer.owner, { workspace, path: wait.path }) === waitId;
  const withdraw = isOfPerson && mayLock(call.bearer) ? withdrawal(workspace, wait.path) : '';
  const kept = wait.keptUntil === null ? undefined : asTimestamp(wait.keptUntil);
  const notice = kept === undefined ? '' : html` data-notice="${safeText(wait.path)} is kept for you"`;
  return [
    ['Path', html`<span${notice}>${pathLink(workspace, wait.path)}</span>`, 'head'],
    ['Place', `${wait.place.position} of ${wait.place.length}`],
    ['Holder', holder === undefined ? 'nobody' : holderCell(holder)],
    [
      'Since',
      kept === undefined
        ? time(asTimestamp(wait.since), now)
        : html`kept for you, expires ${time(kept, now)} <a class="button primary" href="${urls.newLock(workspace, wait.path)}">Lock it</a>`,
    ],
    ['Actions', withdraw, 'nowrap'],
  ];
}

export const withdrawal = (workspace: string, path: string): Markup =>
  postForm({ action: `/workspaces/${workspace}/locks/withdraw`, hidden: { path }, button: 'Withdraw', kind: 'plain' });

async function ownLocksSection({ storage }: Site, call: PageCall): Promise<Markup> {
  const own = await listOwnLocks(storage.read, call.bearer, maxShown + 1);
  const locks = own.slice(0, maxShown);
  if (locks.length === 0) {
    return empty(
      'You hold no locks.',
      html`To lock a file, open its <a href="/">workspace</a>. Locks that you take with git or in an editor appear here too.`,
    );
  }
  const waiting = await countWaiting(storage.read, locks);
  const workspaces = [...new Set(locks.map((lock) => lock.workspace_id))];
  const lists = workspaces.map(
    (id) => html` <a href="${urls.locks(id, { search: call.bearer.owner })}">All in ${userText(id)}</a>`,
  );
  return html`<h2>You hold</h2>${own.length > maxShown ? html`<p>These are the first ${maxShown}.${lists}</p>` : ''}
    ${htmlTable(locks.map((lock) => ownLockRow(call, lock, waiting.get(lock.id) ?? 0)))}`;
}

function ownLockRow(call: PageCall, row: LockRow, waiting: number): Row {
  const { workspace_id: workspace, path } = row;
  const lock = toLock(row);
  return [
    ['Path', html`${pathLink(workspace, path)}${waitingLink(workspace, path, waiting, false)}`, 'head'],
    ['Workspace', html`<a href="${urls.locks(workspace)}">${userText(workspace)}</a>`],
    ['From run', html`${runLink(lock.origin)}${noteLine(lock)}`],
    ...lockCells(lock, call.now),
    ['Actions', mayLock(call.bearer) ? lockLinks(call.bearer, row) : '', 'nowrap'],
  ];
}
