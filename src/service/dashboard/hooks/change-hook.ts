import { html } from 'hono/html';
import { type App, actorOf } from '../../http/operation.ts';
import { findHookOverview } from '../../webhooks/hook-overview.ts';
import { removeHook } from '../../webhooks/hooks.ts';
import { type Pause, pauseHook, type Resumption, resumeHook } from '../../webhooks/pause-hook.ts';
import { shownUrl } from '../../webhooks/shown-request.ts';
import { seeOther } from '../answer.ts';
import type { DashboardParts } from '../dashboard.ts';
import type { Markup } from '../elements/markup.ts';
import { literal, plural } from '../elements/text.ts';
import { formField, showPage } from '../layout.ts';
import { addAction, addPage } from '../page.ts';
import { addressedHook, noSuchHook } from './addressed-hook.ts';
import type { Notice } from './notices.ts';

const pagePath = '/workspaces/:id/hooks/:hook';
const access = 'hooks:write';

function noticeOfPause(pause: Pause): Notice {
  switch (pause.kind) {
    case 'paused':
      return 'paused';
    case 'inactive-already':
      return pause.why === 'paused' ? 'paused-already' : 'gone-already';
    case 'absent':
      throw noSuchHook();
  }
}

function noticeOfResumption(resumption: Resumption): Notice {
  switch (resumption.kind) {
    case 'resumed':
      return resumption.wasInactive === 'gone' ? 'resumed-gone' : 'resumed';
    case 'active-already':
      return 'active-already';
    case 'absent':
      throw noSuchHook();
  }
}

const whatIsLost = (waiting: number): Markup =>
  waiting === 0
    ? html`<p>Nothing waits to be delivered to it. The list of what was delivered goes with it.</p>`
    : html`<p class="warning"><strong>${plural(waiting, 'delivery waits', 'deliveries wait')} for it, and will never be made.</strong> The list of what
        was delivered goes with it as well.</p>`;

export function addHookChanges(app: App, parts: DashboardParts): void {
  const { storage, onLockEvent } = parts;

  addAction(app, parts, { path: `${pagePath}/pause`, access }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const change = { workspace, id: hook.id, actor: actorOf(call.c) };
    const pause = await storage.commit({ workspace }, (db) => pauseHook(db, storage.now, change));
    return seeOther(`/workspaces/${workspace}/hooks/${hook.id}?notice=${noticeOfPause(pause)}`);
  });

  addAction(app, parts, { path: `${pagePath}/resume`, access }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const change = { workspace, id: hook.id, actor: actorOf(call.c) };
    const resumption = await storage.commit({ workspace }, (db) => resumeHook(db, storage.now, change));
    onLockEvent();
    return seeOther(`/workspaces/${workspace}/hooks/${hook.id}?notice=${noticeOfResumption(resumption)}`);
  });

  addPage(app, parts, { path: `${pagePath}/remove`, access }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const overview = await findHookOverview(storage.read, workspace, hook.id);
    if (overview === undefined) throw noSuchHook();
    const page = `/workspaces/${workspace}/hooks/${hook.id}`;
    const main = html`
      <p>The webhook to ${literal(shownUrl(hook.url))} is told nothing more. Registered again, it is a new one, with another secret.</p>
      ${whatIsLost(overview.pending_deliveries)}
      <form method="post" action="${page}/remove" class="actions">
        ${formField(call)}<button class="danger">Remove the webhook</button> <a class="button" href="${page}">Cancel</a>
      </form>`;
    const place = { section: 'workspaces', workspace, tab: 'hooks' } as const;
    return showPage(call, { title: 'Remove this webhook?', place, main });
  });

  addAction(app, parts, { path: `${pagePath}/remove`, access }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const removal = { workspace, id: hook.id, actor: actorOf(call.c) };
    if (!(await storage.commit({ workspace }, (db) => removeHook(db, storage.now, removal)))) throw noSuchHook();
    return seeOther(`/workspaces/${workspace}/hooks?notice=removed`);
  });
}
