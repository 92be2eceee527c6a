export const id = 10;
export const ids = [10];
export const modules = {

/***/ 2010:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

// ESM COMPAT FLAG
__webpack_require__.r(__webpack_exports__);

// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  giveBackTexts: () => (/* binding */ giveBackTexts),
  lock: () => (/* binding */ lock)
});

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/duration.js
var duration = __webpack_require__(4393);
// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/ledger.js
var ledger = __webpack_require__(2463);
// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/entry.js
var ledger_entry = __webpack_require__(1812);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/saved-state.js



const maxLength = 30_000;
function compact({ lock: { path, type, id, etag, acquired_at, fence, expires_at } }) {
    return { path, type, id, etag, acquired_at, fence, expires_at };
}
function formatSavedState(about, grants, redact) {
    const all = (0,ledger/* lockJson */.A$)({ ...about, locks: grants.map(compact) }, redact);
    return all.length <= maxLength ? all : JSON.stringify(about);
}
function parseSavedState(text) {
    let value;
    try {
        value = JSON.parse(text);
    }
    catch {
        return undefined;
    }
    if (typeof value !== 'object' || value === null)
        return undefined;
    const { service, workspace, outlivesJob, locks } = value;
    if (typeof service !== 'string' || typeof workspace !== 'string' || !parseWorkspaceId(workspace).ok)
        return undefined;
    return {
        service,
        workspace,
        outlivesJob: outlivesJob === true,
        locks: Array.isArray(locks) ? locks.filter(isGrantedLock) : undefined,
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/context.js
var action_context = __webpack_require__(1659);
// EXTERNAL MODULE: ./build/bundle/compiled/action/retry.js
var retry = __webpack_require__(7138);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/in-parallel.js
var in_parallel = __webpack_require__(2982);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/messages.js
var messages = __webpack_require__(8767);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/listen.js


const maxSeconds = 30;
const quickMs = 1_000;
const maxQuickAnswers = 3;
function createListener({ client, clock, signal, log }, workspace) {
    let listens = true;
    let hasWaited = false;
    let quickAnswers = 0;
    function isTooQuick(began) {
        quickAnswers = clock() - began < quickMs ? quickAnswers + 1 : 0;
        return quickAnswers > maxQuickAnswers;
    }
    return async (path, until, waitEnds) => {
        while (listens && !signal.aborted) {
            const began = clock();
            const seconds = Math.min(maxSeconds, Math.floor((until - began) / 1_000));
            if (seconds < 1)
                return 'nothing';
            const result = await client.waitForRelease({ workspace, path, seconds }, { deadline: until, signal });
            switch (result.kind) {
                case 'free':
                    hasWaited = true;
                    return isTooQuick(began) ? 'nothing' : 'free';
                case 'held': {
                    hasWaited = true;
                    if (isTooQuick(began))
                        return 'nothing';
                    const left = (0,duration/* span */.Ln)((waitEnds - clock()) / 1_000);
                    log.line(`${(0,messages/* heldText */.Dx)(path, result.holder, client.serverNow(), true)}. Waiting, ${left} left.`);
                    break;
                }
                case 'failed':
                    listens = hasWaited;
                    return 'nothing';
                case 'unsupported':
                    listens = false;
                    return 'nothing';
            }
        }
        return 'nothing';
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/release.js
var release = __webpack_require__(3850);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/acquire.js







async function acquireBatch({ session, terms, signal }, paths, within) {
    const acquired = [];
    const unclear = [];
    let conflict;
    let error;
    const goOn = () => conflict === undefined && error === undefined && !signal.aborted;
    async function acquireOne(path) {
        const result = await session.acquire(path, terms, within);
        if (result.kind === 'acquired') {
            acquired.push(result.grant);
            return;
        }
        if (result.kind === 'unclear')
            unclear.push(result.intent);
        const inTheWay = result.kind === 'unclear' ? result.conflict : result.kind === 'held' ? result : undefined;
        if (inTheWay === undefined)
            error ??= result.error;
        else
            conflict ??= inTheWay;
    }
    await (0,in_parallel/* inParallel */.H)(paths.slice(0, 1), acquireOne, goOn);
    await (0,in_parallel/* inParallel */.H)(paths.slice(1), acquireOne, goOn);
    return { acquired, unclear, conflict, error };
}
async function giveBack(session, { acquired, unclear }, within) {
    const releases = [];
    const unproven = [];
    async function release(grant) {
        releases.push({ grant, result: await session.release(grant, within) });
    }
    async function settle(intent) {
        const result = await session.settle(intent, within);
        if (result.kind === 'acquired')
            await release(result.grant);
        else if (result.kind === 'unclear')
            unproven.push(intent);
    }
    await (0,in_parallel/* inParallel */.H)(acquired, release);
    await (0,in_parallel/* inParallel */.H)(unclear, settle);
    return { releases, unproven };
}
const owedAfter = ({ releases }) => releases.flatMap(({ grant, result }) => result.kind === 'failed' || result.kind === 'unclear' ? [{ grant, error: result.error }] : []);
const giveBackMs = 10_000;
async function giveBackInTime({ clock, session, signal }, batch) {
    const limits = (0,release/* cleanupLimits */.td)(clock, giveBackMs, signal);
    return giveBack(session, batch, limits).finally(limits.lift);
}
async function acquireAllOrNone(context, paths, owed, within) {
    const { client, signal } = context;
    const before = await giveBackInTime(context, { acquired: owed, unclear: [] });
    const [stuck] = owedAfter(before);
    if (stuck !== undefined)
        return { kind: signal.aborted ? 'cancelled' : 'failed', error: stuck.error, back: before };
    const batch = await acquireBatch(context, paths, within);
    const ended = batch.acquired.find(({ lock }) => Date.parse(lock.expires_at) <= client.serverNow());
    if (batch.acquired.length === paths.length && ended === undefined && !signal.aborted) {
        return { kind: 'acquired', grants: batch.acquired };
    }
    const back = await giveBackInTime(context, batch);
    if (signal.aborted)
        return { kind: 'cancelled', back };
    if (batch.conflict !== undefined)
        return { kind: 'held', conflict: batch.conflict, back };
    if (batch.error !== undefined)
        return { kind: 'failed', error: batch.error, back };
    if (ended !== undefined)
        return { kind: 'too-short', ended, back };
    throw new Error('Locks are missing, and nothing says why.');
}
const firstPauseMs = 1_000;
const maxPauseMs = 10_000;
const growth = 1.5;
function pauseMs(round, askedMs = 0, random) {
    const backoff = Math.min(maxPauseMs, firstPauseMs * growth ** round);
    return Math.max(backoff / 2, askedMs) + (random() * Math.max(backoff, askedMs)) / 2;
}
const blockedFirst = (paths, blocked) => blocked === undefined ? paths : [blocked, ...paths.filter((path) => path !== blocked)];
async function acquireLocks(context, paths, wait) {
    const { client, clock, sleep, random, signal, log, terms } = context;
    const sorted = paths.toSorted();
    const began = clock();
    const deadline = began + (0,duration/* milliseconds */.Rz)(wait);
    const withoutWait = (0,action_context/* defaultLimits */.MK)(context);
    const listen = createListener(context, terms.workspace);
    const unproven = new Map();
    let lastConflict;
    let owed = [];
    for (let number = 0;; number += 1) {
        const roundBegan = clock();
        const roundEnds = number === 0 ? Math.max(deadline, withoutWait.deadline - giveBackMs) : deadline;
        const inOrder = blockedFirst(sorted, lastConflict?.path);
        const round = await acquireAllOrNone(context, inOrder, owed, { deadline: roundEnds, signal });
        if (round.kind !== 'acquired') {
            for (const intent of round.back.unproven)
                unproven.set(intent.key, intent);
            owed = owedAfter(round.back).map(({ grant }) => grant);
        }
        if (round.kind === 'held')
            lastConflict = round.conflict;
        const waitedMs = number === 0 ? 0 : clock() - began;
        const result = { round, waitedMs, lastConflict, unproven: [...unproven.values()] };
        const goesOn = round.kind === 'held' || (round.kind === 'failed' && (0,retry/* isTransient */.dg)(round.error));
        const reservedMs = (0,retry/* lastAttemptMs */.wS)(clock() - roundBegan);
        const left = deadline - clock();
        if (!goesOn || left <= reservedMs)
            return result;
        const why = round.kind === 'held'
            ? `${(0,messages/* heldText */.Dx)(round.conflict.path, round.conflict.holder, client.serverNow(), true)}.`
            : round.error.message;
        log.line(`${why} Waiting, ${(0,duration/* span */.Ln)(left / 1_000)} left.`);
        const until = deadline - reservedMs;
        if (round.kind === 'held' && (await listen(round.conflict.path, until, deadline)) === 'free')
            continue;
        const askedMs = round.kind === 'held' ? round.conflict.retryAfterMs : (0,retry/* retryAfterOf */.sT)(round.error);
        await sleep(Math.min(pauseMs(number, askedMs, random), until - clock()), signal);
    }
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/history.js
var ledger_history = __webpack_require__(6504);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/lookup.js
var lookup = __webpack_require__(3981);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/ownership.js
var locks_ownership = __webpack_require__(9706);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/already-held.js




const maxLookMs = 10_000;
function stands({ grant, releaseBegun }, found, serverNow) {
    const believed = !releaseBegun && !(0,locks_ownership/* isOver */.PU)(grant.lock, serverNow);
    switch (found.kind) {
        case 'absent':
        case 'failed':
            return false;
        case 'unknown':
            return believed;
        case 'locked': {
            const ownership = (0,locks_ownership/* compare */.UD)({ ...grant.lock, grantedAt: grant.at }, found.lock);
            return ownership === 'ours' || (ownership === 'unknown' && believed);
        }
    }
}
async function findAlreadyHeld(context, workspace, paths) {
    const { client, clock, connection, ledger } = context;
    const { held, stepNames } = (0,ledger_history/* readJobLocks */.k)(ledger, connection.baseUrl, workspace);
    const candidates = paths.filter((path) => held.has(path));
    if (candidates.length === 0)
        return [];
    const { deadline, signal } = (0,action_context/* defaultLimits */.MK)(context);
    const within = { signal, deadline: Math.min(deadline, clock() + maxLookMs) };
    const find = await (0,lookup/* lookupIn */.IX)((0,lookup/* listOnPaths */.cP)(client, workspace, candidates, within));
    return candidates.flatMap((path) => {
        const lock = held.get(path);
        const found = find(path);
        if (lock === undefined || !stands(lock, found, client.serverNow()))
            return [];
        const { grant } = lock;
        const listed = found.kind === 'locked' ? found.lock : undefined;
        return {
            path,
            owner: listed?.owner ?? grant.lock.owner,
            expiresAt: Date.parse(listed?.expires_at ?? grant.lock.expires_at),
            stepName: stepNames.get(grant.step),
        };
    });
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/session.js




function grantedLock(taken, ttl, serverNow) {
    const { path, type, id, etag, owner, acquired_at, fence, expires_at } = taken;
    const end = expires_at ?? new Date(serverNow + ttl.seconds * 1_000).toISOString();
    return { path, type, id, etag, owner, acquired_at, fence, expires_at: end };
}
function openLockSession(context) {
    const { client, clock, record, step, origin, announce } = context;
    const firstAsked = new Map();
    const askedWith = new Map();
    let announced = false;
    let serviceAnswered = false;
    const now = () => new Date(client.serverNow()).toISOString();
    function askedAt({ key, at, byService }) {
        const here = askedWith.get(key);
        if (here !== undefined)
            return client.serverNow() - (clock() - here);
        return byService ? Date.parse(at) : Number.NaN;
    }
    function canBeOurs(holder, intent) {
        if (holder?.origin !== undefined && origin !== undefined && holder.origin !== origin)
            return false;
        return !(Date.parse(holder?.acquired_at ?? '') < askedAt(intent) - locks_ownership/* clockSlackMs */.zU);
    }
    function isNewGrant(lock, replayed, sentAt) {
        if (replayed)
            return false;
        const acquired = Date.parse(lock.acquired_at ?? '');
        return Number.isNaN(acquired) ? undefined : acquired >= client.serverNow() - (clock() - sentAt) - locks_ownership/* clockSlackMs */.zU;
    }
    async function ask(intent, keySentBefore, within) {
        const { service, key, type } = intent;
        const { workspace, path } = (0,ledger_entry/* parsedAddress */.kT)(intent);
        const ttl = (0,ledger_entry/* parsedTtl */.Yh)(intent);
        if (!firstAsked.has(path))
            firstAsked.set(path, clock());
        if (!keySentBefore)
            askedWith.set(key, clock());
        const sentAt = clock();
        const acquisition = await client.acquireLock({ workspace, path, type, ttl, idempotencyKey: key, keySentBefore }, within);
        const entry = { service, workspace, path, step, key };
        switch (acquisition.kind) {
            case 'acquired': {
                const lock = grantedLock(acquisition.lock, ttl, client.serverNow());
                const waitedMs = Math.round(clock() - (firstAsked.get(path) ?? clock()));
                const grant = { kind: 'granted', ...entry, waitedMs, lock, at: now() };
                record(grant);
                const isNew = !keySentBefore || isNewGrant(acquisition.lock, acquisition.replayed, sentAt);
                return { kind: 'acquired', grant, isNew };
            }
            case 'held': {
                const { holder, retryAfterMs, error, mayBeOurs } = acquisition;
                const conflict = { path, holder, retryAfterMs, error };
                if (mayBeOurs && canBeOurs(holder, intent))
                    return { kind: 'unclear', intent, error, conflict };
                record({ kind: 'denied', ...entry, at: now() });
                return { kind: 'held', ...conflict };
            }
            case 'unclear':
                return { kind: 'unclear', intent, error: acquisition.error, conflict: undefined };
            case 'failed':
                record({ kind: 'denied', ...entry, at: now() });
                return { kind: 'failed', error: acquisition.error };
        }
    }
    return {
        async acquire(path, { service, workspace, type, ttl }, within) {
            const intent = {
                kind: 'intent',
                service,
                workspace,
                path,
                step,
                key: crypto.randomUUID(),
                type,
                ttl: (0,duration/* formatDuration */.a3)(ttl),
                at: now(),
                byService: serviceAnswered,
            };
            record(intent);
            if (!announced)
                announce();
            announced = true;
            const result = await ask(intent, false, within);
            serviceAnswered ||= result.kind === 'acquired' || result.kind === 'held';
            return result;
        },
        settle: (intent, within) => ask(intent, true, within),
        release(grant, within, doubtful = false) {
            const lock = { ...grant.lock, grantedAt: grant.at };
            const target = { kind: 'own', lock, doubtful };
            return (0,release/* releaseLock */.x_)(context, { service: grant.service, ...(0,ledger_entry/* parsedAddress */.kT)(grant), target }, within);
        },
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/outcome.js
var outcome = __webpack_require__(8776);
// EXTERNAL MODULE: ./build/bundle/compiled/action/paths/resolve-paths.js + 1 modules
var resolve_paths = __webpack_require__(5340);
// EXTERNAL MODULE: ./build/bundle/compiled/action/report/words.js
var words = __webpack_require__(1046);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/lock.js











function writeLocksFile({ context, step }, locks) {
    const file = (0,ledger/* locksFile */.Ny)(context.runner.temporaryFolder, step);
    try {
        (0,external_node_fs_.writeFileSync)(file, locks, { mode: 0o600 });
        return { locks_file: file };
    }
    catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        context.log.warn(`The file with the locks could not be written: ${why}`);
        return {};
    }
}
function saveLocks({ context, task }, grants, outputs) {
    const { connection, redact, saveState, setOutputs } = context;
    if (!task.autoRelease)
        setOutputs(outputs);
    const about = { service: connection.baseUrl, workspace: task.workspace, outlivesJob: !task.autoRelease };
    saveState('locks', formatSavedState(about, grants, redact));
}
function acquired(lockStep, unsorted, { waitedMs, unproven }) {
    const { context, task, began } = lockStep;
    const { client, log, clock, redact } = context;
    const now = client.serverNow();
    const grants = unsorted.toSorted(outcome/* byPath */.f2);
    const locks = grants.map(({ lock }) => lock);
    const json = (0,ledger/* lockJson */.A$)(locks, redact);
    const soonest = Math.min(...locks.map(({ expires_at }) => Date.parse(expires_at)));
    const waited = waitedMs > 0 ? ` after waiting for ${(0,words/* duration */.p0)(waitedMs)}` : '';
    const until = Number.isNaN(soonest) ? '' : ` until ${(0,words/* moment */.n$)(soonest, now)}`;
    const what = locks.length === 1 ? (locks[0]?.path ?? '') : (0,words/* count */.U9)(locks.length, 'path');
    const sentence = `Locked ${what} in ${task.workspace}${until}${waited}.`;
    log.group(`${sentence} It took ${(0,words/* duration */.p0)(clock() - began)}.`, locks.map(({ path, expires_at }) => `${path} until ${expires_at}`));
    for (const intent of unproven)
        log.line((0,messages/* unprovenText */.VU)(intent));
    if (!task.autoRelease)
        log.line('The locks outlive this job: `auto-release` is false. Release them with `unlock` and the output `locks`.');
    const outputs = {
        status: 'acquired',
        acquired: 'true',
        count: String(locks.length),
        holder: '',
        waited_seconds: String(Math.floor(waitedMs / 1_000)),
        locks: json,
        ...writeLocksFile(lockStep, json),
    };
    saveLocks(lockStep, grants, outputs);
    const rows = locks.map(({ path, expires_at }) => {
        const end = Date.parse(expires_at);
        return [path, (0,words/* clockTime */.qo)(end, now), (0,words/* distance */.Io)(end, now)];
    });
    return { outputs, sentence, tables: [{ head: ['Path', 'Until', ''], rows }], failures: [], annotations: [] };
}
const holderTable = ({ path, holder }, now) => ({
    head: ['Path', 'Holder', 'Until', 'Taken by'],
    rows: [
        [
            path,
            holder?.owner ?? '',
            holder?.expires_at === undefined ? '' : (0,words/* clockTime */.qo)(Date.parse(holder.expires_at), now),
            holder?.origin ?? '',
        ],
    ],
});
function releaseText({ path, lock }, result, now) {
    switch (result.kind) {
        case 'released':
        case 'absent':
            return undefined;
        case 'lost':
            return `The lock on ${path} was lost before it could be released. ${(0,messages/* heldText */.Dx)(path, result.holder, now)}.`;
        case 'left-alone':
            return `The lock on ${path} may have ended, and the service gave nothing to tell it from another: what is there now has been left alone.`;
        case 'unclear':
        case 'failed':
            return `The lock on ${path} could not be released and stays until ${(0,words/* clockTime */.qo)(Date.parse(lock.expires_at), now)}, unless the end of the job can release it: ${result.error.message}`;
    }
}
function giveBackTexts({ releases }, asked, now) {
    if (releases.length === 0)
        return [];
    const left = releases
        .map(({ grant, result }) => releaseText(grant, result, now))
        .filter((text) => text !== undefined);
    const released = releases.length - left.length;
    return [
        `${(0,words/* grouped */.zD)(releases.length)} of ${(0,words/* count */.U9)(asked, 'path')} had been locked; ${(0,words/* grouped */.zD)(released)} released again.`,
        ...left,
    ];
}
const noLocks = { acquired: 'false', count: '0', locks: '[]' };
function notAcquired({ context, task, paths }, round, { waitedMs, lastConflict, unproven }) {
    const { client, log } = context;
    const now = client.serverNow();
    for (const text of giveBackTexts(round.back, paths.length, now))
        log.line(text);
    for (const intent of unproven)
        log.line((0,messages/* unprovenText */.VU)(intent));
    const outputs = {
        ...noLocks,
        waited_seconds: String(Math.floor(waitedMs / 1_000)),
    };
    const heldBy = (conflict, why) => (0,outcome/* failed */.gz)({ ...outputs, status: 'held', holder: conflict.holder?.owner ?? '' }, `${(0,messages/* heldText */.Dx)(conflict.path, conflict.holder, now)}. ${why}`, holderTable(conflict, now));
    const waited = `Waited ${(0,duration/* formatDuration */.a3)(task.wait)} for it. Raise \`wait\` to wait longer.`;
    switch (round.kind) {
        case 'held': {
            const { conflict } = round;
            const advice = task.wait.seconds > 0 ? waited : (0,messages/* waitAdvice */.o1)(conflict.holder?.expires_at, now);
            return heldBy(conflict, advice);
        }
        case 'cancelled': {
            const left = round.back.releases.filter(({ result }) => ['left-alone', 'unclear', 'failed'].includes(result.kind));
            const all = left.length + unproven.length === 0;
            return (0,outcome/* failed */.gz)(outputs, all
                ? 'The step was cancelled and has released what it had locked.'
                : 'The step was cancelled. Some of its locks could not be released in time: the end of the job tries again.');
        }
        case 'too-short': {
            const { path, lock } = round.ended;
            return (0,outcome/* failed */.gz)(outputs, `The lock on ${path} ended at ${(0,messages/* pastMoment */.f3)(Date.parse(lock.expires_at), now)}, before all ${(0,words/* count */.U9)(paths.length, 'path')} were locked. Raise \`ttl\`: it has to be longer than that takes, and than the job needs.`);
        }
        case 'failed':
            if (lastConflict !== undefined && round.error.failure.kind === 'deadline')
                return heldBy(lastConflict, waited);
            return (0,outcome/* failed */.gz)(outputs, round.error.message);
    }
}
function heldByThisJob({ context, task, paths }, own) {
    const now = context.client.serverNow();
    const rows = own.map(({ path, stepName, expiresAt }) => [
        path,
        (0,messages/* stepText */.uw)(stepName),
        Number.isNaN(expiresAt) ? '' : (0,words/* clockTime */.qo)(expiresAt, now),
    ]);
    return (0,outcome/* failed */.gz)({ ...noLocks, status: 'held', holder: own[0]?.owner ?? '', waited_seconds: '0' }, (0,messages/* alreadyHeldText */.D4)(own, { paths, ttl: task.ttl }, now), { head: ['Path', 'Locked by', 'Until'], rows });
}
async function lock(context, task) {
    const { client, clock, connection, runner, record, saveState, log } = context;
    const { workspace, type, ttl } = task;
    const service = connection.baseUrl;
    const resolved = await (0,resolve_paths/* resolvePaths */.L)(task.paths, runner);
    const paths = resolved.map(({ path }) => path);
    const step = crypto.randomUUID();
    const lockStep = { context, task, step, paths, began: clock() };
    record({
        kind: 'plan',
        service,
        workspace,
        step,
        stepName: runner.stepName,
        paths,
        at: new Date(client.serverNow()).toISOString(),
    });
    const own = await findAlreadyHeld(context, workspace, paths);
    if (own.length > 0)
        return heldByThisJob(lockStep, own);
    const announce = () => {
        saveState('step', step);
        saveState('on-lost', task.onLost);
        log.debug(`The ledger knows this step as ${step}.`);
    };
    const session = openLockSession({ ...context, step, origin: runner.origin, announce });
    const terms = { service, workspace, type, ttl };
    const result = await acquireLocks({ ...context, session, terms }, paths, task.wait);
    const { round } = result;
    return round.kind === 'acquired' ? acquired(lockStep, round.grants, result) : notAcquired(lockStep, round, result);
}


/***/ })

};
